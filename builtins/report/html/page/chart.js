// Charts. Positions are in percent of the width, so that a chart scales with its
// container and its dots stay round.

const outcomes = ["passed", "failed", "error"];

// interval draws a value with its 95% interval. x maps values to positions; marks are in the background.
function interval(figure, low, high, x, write, ...marks) {
  return svg("svg", {class: "interval", height: 20, role: "img", "aria-label": `${write(figure)}, 95% interval ${write(low)} to ${write(high)}`},
    svg("line", {class: "axis", x1: "2%", x2: "98%", y1: 10, y2: 10}), marks,
    svg("line", {class: "whisker", x1: x(low), x2: x(high), y1: 10, y2: 10}),
    upright("whisker", x(low), 6), upright("whisker", x(high), 6),
    svg("circle", {class: "dot", cx: x(figure), cy: 10, r: 4.5}));
}

function upright(kind, x, from) {
  return svg("line", {class: kind, x1: x, x2: x, y1: from, y2: 20 - from});
}

// rateLine draws a rate on an axis that ends at 100%.
function rateLine(s, from = 0) {
  return interval(s.pass_rate, s.ci_low, s.ci_high, (v) => 2 + 96 * (v - from) / (1 - from) + "%", percent);
}

// drawRates draws the charts that need only the report, not the trials.
function drawRates() {
  const s = report.stats;
  place("charts", el("h2", null, "Charts"), el("div", {class: "grid"},
    severalVariants && rateChart("Pass rate by variant", s.by_variant, false),
    rateChart("Pass rate by group", s.by_group, true),
    rateChart("Pass rate per check", s.by_check, true)),
  el("div", {class: "grid four", id: "spreads"}));
}

function rateChart(title, parts, sorted) {
  const rows = Object.entries(parts || {});
  if (rows.length === 0 || rows.length === 1 && rows[0][0] === "") return null;
  if (sorted) rows.sort((a, b) => a[1].pass_rate - b[1].pass_rate);
  const from = Math.min(0.9, Math.floor(10 * Math.min(...rows.map(([, part]) => part.ci_low))) / 10);
  return el("figure", null, el("figcaption", null, title),
    el("table", {class: "rates"}, el("tbody", null, someOf(rows, 12, ([name, part]) => el("tr", null,
      el("th", {scope: "row", title: name}, name || "(none)"),
      el("td", null, rateLine(part, from)),
      num(percent(part.pass_rate)),
      num(muted(`n ${count(part.n)}`))), inRow),
      el("tr", null, el("td"), el("td", null, scale(percent(from), "", "100%"))))));
}

// drawSpreads draws the distribution of metrics over trials.
function drawSpreads() {
  const ended = trials.filter((t) => t.outcome !== "skipped");
  place("spreads",
    histogram("Latency", ended, (t) => t.ms, span),
    priced && histogram("Cost per trial", ended, (t) => t.cost, money),
    histogram("Tokens per trial", ended, (t) => t.tokens, amount),
    histogram("Score", ended.filter((t) => t.outcome !== "error"), (t) => t.score, score, 1));
}

function histogram(title, of, value, write, most) {
  const sorted = of.map(value).sort((a, b) => a - b);
  if (!sorted.length || sorted[sorted.length - 1] === 0 && !most) return null;
  const bins = binsOf(of, value, sorted, most);
  const highest = Math.max(...bins.map((b) => b.all));
  const width = 100 / bins.length, end = bins[bins.length - 1].to;
  const graded = of.filter((t) => t.outcome !== "error").map(value).sort((a, b) => a - b);
  const at = (q) => write(quantile(graded.length ? graded : sorted, q));
  const said = `median ${at(0.5)}, p95 ${at(0.95)}, max ${at(1)}`;
  return el("figure", null, el("figcaption", null, title, el("p", {class: "muted"}, said)),
    svg("svg", {class: "bars", height: 120, role: "img", "aria-label": `${title} of ${plural(of.length, "trial")}: ${said}`},
      bins.map((bin, i) => bars(bin, i * width, width, highest, write))),
    scale(write(0), write(end / 2), bins.more ? "and more" : write(end)),
    legend(bins));
}

// scale returns the labels below a chart: left, center, right.
function scale(...marks) {
  return el("div", {class: "scale"}, marks.map((mark) => el("span", null, mark)));
}

// binsOf counts values in bins of equal width. The last bin includes the tail.
function binsOf(of, value, sorted, most) {
  const last = sorted[sorted.length - 1];
  const p95 = quantile(sorted, 0.95);
  const cut = !most && p95 > 0 && last > 3 * p95;
  const step = most ? most / 20 : roundStep((cut ? 1.5 * p95 : last) / 24);
  const n = most ? 20 : Math.floor((cut ? 1.5 * p95 : last) / step) + 1;
  const bins = Array.from({length: n}, (_, i) => ({from: i * step, to: (i + 1) * step, passed: 0, failed: 0, error: 0, all: 0}));
  for (const t of of) {
    const bin = bins[Math.min(n - 1, Math.max(0, Math.floor(value(t) / step + 1e-9)))];
    bin[t.outcome]++;
    bin.all++;
  }
  bins.more = cut;
  return bins;
}

// roundStep rounds up to 1, 2, 2.5 or 5 times a power of ten.
function roundStep(x) {
  const ten = 10 ** Math.floor(Math.log10(x));
  return ten * [1, 2, 2.5, 5, 10].find((f) => f * ten >= x * 0.999);
}

function bars(bin, x, width, highest, write) {
  let top = 120;
  const there = outcomes.filter((kind) => bin[kind] > 0);
  const rects = there.map((kind) => {
    const height = Math.max(1, bin[kind] / highest * 116);
    top -= height;
    return svg("rect", {class: kind, x: x + width * 0.06 + "%", width: width * 0.88 + "%", y: top, height});
  });
  const said = there.map((kind) => `${bin[kind]} ${kind}`).join(", ");
  return svg("g", null, svg("title", null, `${write(bin.from)} to ${write(bin.to)}: ${said || "none"}`),
    svg("rect", {class: "catch", x: x + "%", width: width + "%", y: 0, height: 120}), rects);
}

function legend(bins) {
  return el("p", {class: "legend"}, outcomes.filter((kind) => bins.some((b) => b[kind] > 0)).map((kind) => el("span", {class: kind}, kind)));
}
