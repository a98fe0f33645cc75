// The comparison with the baseline.

function drawBaseline() {
  const b = report.baseline;
  if (!b) return;
  place("baseline",
    el("h2", null, "Comparison with the baseline ", muted(b.ref, b.git_commit && [" at ", short(b.git_commit)])),
    el("div", {class: "card"},
      el("p", {class: "difference"}, badge(b.verdict),
        el("b", null, points(b.difference)), ` 95% interval ${points(b.ci_low)} to ${points(b.ci_high)}, ${b.test}, p ${b.p < 0.001 ? "< 0.001" : "= " + fixed(b.p, 3)}, ${plural(b.paired, "case")} in both`),
      differenceChart(b),
      muted(`Minimum detectable drop at 80% power: ${fixed(b.detectable_effect * 100, 1)} points.`, b.cases_needed ? ` About ${plural(b.cases_needed, "case")} are needed.` : ""),
      b.grading_changed && note("warn", "The checks differ from those of the baseline", "the results cannot be compared"),
      before(b)),
    caseList("New cases", b.added, true),
    caseList("Removed cases", b.removed, false));
}

// differenceChart draws the difference with its interval, zero and the margin.
function differenceChart(b) {
  const reach = Math.min(1, 1.15 * Math.max(Math.abs(b.ci_low), Math.abs(b.ci_high), b.margin, 0.01));
  const x = (v) => 50 + 48 * v / reach + "%";
  return el("div", null,
    interval(b.difference, b.ci_low, b.ci_high, x, points, upright("zero", x(0), 0), b.margin > 0 && upright("margin", x(-b.margin), 0)),
    scale(points(-reach), b.margin > 0 ? `0 (dashed: margin ${points(-b.margin)})` : "0", points(reach)));
}

// before shows the metrics of both evaluations side by side.
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

// directions lists the kinds of changes, those that need attention first.
const directions = ["newly failing", "fails more often", "newly passing", "fails less often"];

// directionOf returns the kind of a change, regardless of its significance.
function directionOf(c) {
  const fell = c.after.c * c.before.n < c.before.c * c.after.n;
  if (fell) return c.before.c === c.before.n ? directions[0] : directions[1];
  return c.after.c === c.after.n ? directions[2] : directions[3];
}

// drawChanges lists the cases that changed, once the cases are loaded.
function drawChanges() {
  const all = (report.baseline && report.baseline.changes) || [];
  if (!all.length) return;
  place("changes", directions.map((name) => {
    const of = all.filter((c) => directionOf(c) === name);
    const failing = of.some((c) => c.after.c < c.after.n), names = ["Case", severalVariants && "Variant", failing && "Expected", failing && "Actual"].filter(Boolean);
    return of.length > 0 && [el("h2", null, badge(name), muted(plural(of.length, "case"))),
      table([...names, "Baseline", "Now"], names.length, someOf(of, 15, (c) => changeRow(c, failing), inRow))];
  }), el("details", {class: "muted"}, el("summary", null, "Significance of each change"),
    table(["Case", severalVariants && "Variant", "Baseline", "Now", "p", "Verdict"].filter(Boolean), severalVariants ? 2 : 1, someOf(all, 15, significanceRow, inRow)),
    el("p", null, "Fisher's exact test, adjusted for multiple comparisons (Benjamini-Hochberg).")));
}

function changeRow(c, failing) {
  const now = byKey.get(keyOf(c.case, c.variant)) || {};
  return el("tr", null,
    el("td", null, toCase({case: c.case, variant: c.variant}, c.case), (now.question || now.about) && el("div", {class: "about"}, now.question || now.about)),
    severalVariants && el("td", null, c.variant), failing && [el("td", null, now.expected || [now.check, now.why].filter(Boolean).join(": ")), el("td", null, now.actual)],
    num(c.before.c, "/", c.before.n), num(c.after.c, "/", c.after.n));
}

function significanceRow(c) {
  return el("tr", null, el("td", null, c.case), severalVariants && el("td", null, c.variant), num(c.before.c, "/", c.before.n), num(c.after.c, "/", c.after.n),
    num(c.p < 0.001 ? "< 0.001" : fixed(c.p, 3)), el("td", null, c.kind === "changed" ? "not significant" : c.kind));
}

function caseList(title, ids, here) {
  return ids && [el("h3", null, title, " ", muted(count(ids.length))),
    el("p", {class: "list"}, someOf(ids, 12, (id) => here ? toCase({case: id}, id) : el("span", null, id)))];
}
