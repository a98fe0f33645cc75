"use strict";
// Draws a picture above the table of each chart, with uPlot.
(() => {
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const units = {
    usd: (v) => "$" + (v >= 100 ? v.toFixed(0) : v >= 1 ? v.toFixed(2) : v.toFixed(4)),
    ms: (v) => (v >= 60000 ? (v / 60000).toFixed(1) + "m" : v >= 1000 ? (v / 1000).toFixed(1) + "s" : Math.round(v) + "ms"),
    percent: (v) => v.toFixed(1) + "%",
    count: (v) => v.toLocaleString("en"),
  };

  // read returns the columns of a table that the picture shows: times and values, oldest first.
  function read(section) {
    const heads = [...section.querySelectorAll("th[data-series]")].map((th) => th.textContent);
    const rows = [...section.querySelectorAll("details tbody tr")].reverse();
    const at = rows.map((tr) => Number(tr.querySelector("th").dataset.at));
    const columns = heads.map((_, i) => rows.map((tr) => {
      const value = tr.querySelectorAll("td")[i].dataset.value;
      return value === undefined ? null : Number(value);
    }));
    return { heads, data: [at, ...columns] };
  }

  const height = 240;
  const padding = 16; // of .plot, left and right
  const sizeOf = (plot) => ({ width: Math.max(200, plot.clientWidth - padding), height });

  function draw(section) {
    const plot = section.querySelector(".plot");
    const { heads, data } = read(section);
    if (!data[0].length) return null;
    plot.replaceChildren();
    plot.hidden = false;
    const format = units[section.dataset.unit] || units.count;
    const band = section.dataset.band !== undefined;
    const color = (i) => style("--series-" + ((band ? 0 : i % 8) + 1));
    const axis = { stroke: style("--muted"), grid: { stroke: style("--border"), width: 1 }, ticks: { stroke: style("--border"), width: 1 } };
    const series = heads.map((label, i) => ({
      label, stroke: color(i), width: band && i ? 1 : 2, dash: band && i ? [4, 4] : undefined, spanGaps: true,
      points: { show: data[0].length < 60 && !(band && i), size: 6 }, value: (_, v) => (v === null || v === undefined ? "" : format(v)),
    }));
    const most = section.dataset.unit === "percent" ? 100 : Math.max(0, ...data.slice(1).flat().map(Number));
    return new uPlot({
      ...sizeOf(plot), tzDate: (s) => uPlot.tzDate(new Date(s * 1000), "Etc/UTC"),
      scales: { y: { range: [0, most > 0 ? most * 1.05 : 1] } },
      bands: band ? [{ series: [3, 2], fill: color(0) + "33" }] : [],
      axes: [axis, { ...axis, size: 72, values: (_, all) => all.map(format) }],
      series: [{ value: "{YYYY}-{MM}-{DD}" }, ...series],
    }, data, plot);
  }

  const drawn = new Map();
  for (const section of document.querySelectorAll(".chart")) {
    const picture = draw(section);
    if (!picture) continue;
    section.querySelector("details").open = false;
    drawn.set(section, picture);
    new ResizeObserver(() => drawn.get(section).setSize(sizeOf(section.querySelector(".plot")))).observe(section);
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const [section, picture] of drawn) {
      picture.destroy();
      drawn.set(section, draw(section));
    }
  });
})();
