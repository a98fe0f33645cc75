// The comparison with the baseline.

function drawBaseline() {
  const b = report.baseline;
  if (!b) return;
  place("baseline",
    el("h2", null, "Against the baseline ", muted(b.ref, b.git_commit && [" at ", short(b.git_commit)])),
    el("div", {class: "card"},
      el("p", {class: "difference"}, badge(b.verdict),
        el("b", null, points(b.difference)), ` 95% interval ${points(b.ci_low)} to ${points(b.ci_high)}, ${b.test}, p ${b.p < 0.001 ? "< 0.001" : "= " + fixed(b.p, 3)}, ${plural(b.paired, "case")} in both`),
      differenceChart(b),
      muted(`A drop of ${fixed(b.detectable_effect * 100, 1)} points would be found with 80% power.`, b.cases_needed ? ` About ${plural(b.cases_needed, "case")} would decide.` : ""),
      b.grading_changed && note("warn", "The checks are not those of the baseline", "rates are of different marks"),
      before(b)),
    changes(b.changes || []),
    caseList("New cases", b.added, true),
    caseList("Cases that are gone", b.removed, false));
}

// differenceChart draws the difference with its interval, zero and the margin.
function differenceChart(b) {
  const reach = 1.15 * Math.max(Math.abs(b.ci_low), Math.abs(b.ci_high), b.margin, 0.01);
  const x = (v) => 50 + 48 * v / reach + "%";
  return el("div", null,
    interval(b.difference, b.ci_low, b.ci_high, x, points, upright("zero", x(0), 0), b.margin > 0 && upright("margin", x(-b.margin), 0)),
    scale(points(-reach), b.margin > 0 ? `0 (dashed: margin ${points(-b.margin)})` : "0", points(reach)));
}

// before is the figures of both, side by side.
function before(b) {
  const now = report.stats, was = b.stats;
  const rows = [
    ["Pass rate", was.pass_rate, now.pass_rate, percent],
    ["Score", was.score, now.score, score],
    priced && ["Cost, mean", was.cost.mean, now.cost.mean, money],
    ["Latency, median", was.latency.p50, now.latency.p50, seconds],
    ["Latency, p95", was.latency.p95, now.latency.p95, seconds],
    ["Tokens, mean", was.tokens.mean, now.tokens.mean, amount],
    ["Flaky cases", was.flaky, now.flaky, count],
    ["Errors", was.errors, now.errors, count],
  ].filter(Boolean);
  return table(["Figure", "Baseline", "Now", "Change"], 1, rows.map(([name, a, z, write]) => el("tr", null,
    el("th", {scope: "row"}, name), num(write(a)), num(write(z)),
    num(muted(a === z ? "same" : name === "Pass rate" ? points(z - a) : signed(z - a, write))))), {class: "compact"});
}

function changes(all) {
  return all.length > 0 && [el("h3", null, "Changed cases ", muted(count(all.length))),
    table(["Change", "Case", "Variant", "Baseline", "Now", "p"], 3, someOf(all, 15, changeRow, inRow))];
}

function changeRow(c) {
  return el("tr", null,
    el("td", null, badge(c.kind)),
    el("td", null, toCase({case: c.case, variant: c.variant}, c.case)),
    el("td", null, c.variant), num(c.before.c, "/", c.before.n), num(c.after.c, "/", c.after.n), num(fixed(c.p, 3)));
}

function caseList(title, ids, here) {
  return ids && [el("h3", null, title, " ", muted(count(ids.length))),
    el("p", {class: "list"}, someOf(ids, 12, (id) => here ? toCase({case: id}, id) : el("span", null, id)))];
}
