// The top of the page: what was evaluated, the verdict, key metrics, gates.

function drawHead() {
  const m = report.eval;
  place("head",
    el("p", {class: "kicker"}, "Evaluation", muted(" ", m.id)),
    el("h1", null, m.suite),
    m.description && el("p", {class: "lead"}, m.description),
    el("p", {class: "verdict " + kinds.get(report.verdict)}, el("strong", null, report.verdict), el("span", null, report.reason)),
    el("dl", {class: "facts"}, facts(m)));
  place("notes",
    (report.errors || []).map((e) => note("bad", `${plural(e.count, "trial")} ended in ${e.kind} errors`, e.example)),
    report.missing > 0 && note("warn", `${plural(report.missing, "trial")} did not run`),
    (report.warnings || []).map((text) => note("warn", text)));
}

function note(kind, title, text) {
  return el("p", {class: "note " + kind}, el("strong", null, title), text && ": ", text);
}

function facts(m) {
  const labels = Object.entries(m.labels || {}).map(([k, v]) => `${k}=${v}`).join(", ");
  return [
    text("Spec", (m.variants || []).map((v) => el("div", null, v.name && el("b", null, v.name, " "), v.spec.name, v.spec.version && " " + v.spec.version, " ", short(v.spec.digest), (v.set || []).map((s) => [" ", el("code", null, s)])))),
    text("Suite", m.file, " ", short(m.digest)),
    text("Dataset", m.dataset, " ", short(m.dataset_digest)),
    text("Commit", m.git_commit && short(m.git_commit), m.git_dirty && " with uncommitted changes"),
    text("Started", when(m.started_at)),
    text("Duration", span(report.duration_ms)),
    text("Trials", plural(m.repeat, "trial"), " per case, concurrency ", m.concurrency),
    text("Filter", m.filter),
    text("Labels", labels),
    text("pexctl", m.version),
  ];
}

function drawTiles() {
  const s = report.stats, apart = report.quarantined_stats;
  const was = report.baseline && report.baseline.stats;
  const kinds = (report.errors || []).map((e) => `${count(e.count)} ${e.kind}`).join(", ");
  place("tiles",
    tile("Pass rate", percent(s.pass_rate), rateLine(s), `95% interval ${percent(s.ci_low)} to ${percent(s.ci_high)}, ${plural(s.n, "case")}`, was && `baseline ${percent(was.pass_rate)}`),
    tile("Trials", count(s.trials), `${count(s.passed)} passed, ${count(s.failed)} failed`, s.flaky > 0 && `${plural(s.flaky, "case")} flaky`,
      apart && `${plural(apart.trials, "quarantined trial")}`),
    tile("Errors", count(s.errors), kinds || "no ungraded trials", was && `baseline ${count(was.errors)}`),
    tile("Cost", priced ? money(s.cost.total) : "unknown", priced ? `per trial: mean ${money(s.cost.mean)}, p95 ${money(s.cost.p95)}` : "an LLM has no price in its spec", was && priced && `baseline mean ${money(was.cost.mean)}`),
    tile("Latency", seconds(s.latency.p50), `median; p95 ${seconds(s.latency.p95)}`, was && `baseline ${seconds(was.latency.p50)}, p95 ${seconds(was.latency.p95)}`),
    tile("Tokens", amount(s.tokens.total), `per trial: mean ${amount(s.tokens.mean)}, p95 ${amount(s.tokens.p95)}`, was && `baseline mean ${amount(was.tokens.mean)}`,
      report.judge_tokens > 0 && `judges: ${amount(report.judge_tokens)}, ${money(report.judge_cost_usd)}`));
}

function tile(name, figure, ...lines) {
  return el("div", {class: "tile"}, el("h2", null, name), el("p", {class: "figure"}, figure), lines.map((one) => one && el("p", null, one)));
}

function drawGates() {
  if (!(report.gates || []).length) return;
  const failed = report.gates.filter((g) => !g.pass).length;
  place("gates",
    el("h2", null, "Gates ", muted(failed ? `${failed} of ${count(report.gates.length)} gates failed` : "all passed")),
    table(["Result", "Gate", "Figures", "Where"], 9, report.gates.map(gateRow)));
}

function gateRow(g) {
  return el("tr", null,
    el("td", null, badge(g.pass ? "passed" : "failed")),
    el("td", null, g.name && g.name !== g.expr && el("div", null, g.name), el("code", null, g.expr)),
    el("td", null, g.error ? el("span", {class: "badtext"}, g.error) : g.got, (g.cases || []).length > 0 && el("div", {class: "list"}, someOf(g.cases, 8, (id) => toCase({case: id}, id)))),
    el("td", {class: "muted"}, g.file && `${g.file}${g.line ? ":" + g.line : ""}`));
}
