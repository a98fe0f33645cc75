// A trial: sections that are shown alone or next to those of a rival. Each function
// takes the trial and the rival (undefined = alone) and returns a node, or null.

const sections = [
  ["Outcome", outcomeOf],
  ["Checks", checksOf],
  ["Answer", (t, r) => own("response", t, r) || muted("It gave no answer.")],
  ["Output", (t, r) => t.output !== t.response && own("output", t, r)],
  ["Steps", stepsOf],
  ["Warnings", (t) => t.warnings && el("ul", null, t.warnings.map((w) => el("li", null, w)))],
  ["Prompts", (t) => t.prompts && t.prompts.map((p, i) => folded(false, `Model call ${i + 1}`, block(p)))],
];

// block shows a text unchanged, with the parts that the rival's lacks marked.
function block(text, rival) {
  return el("pre", {tabindex: 0, dir: "auto"}, marked(text, rival));
}

// own shows a text of x, with the parts that the same text of the rival lacks marked.
function own(name, x, r) {
  return x[name] && block(x[name], r && (r[name] || ""));
}

// full returns a trial of the index with its details.
function full(t) {
  return Object.assign({}, detailsOf(t), t);
}

function outcomeOf(t, r) {
  const other = (name) => r && r[name] !== t[name] && "differs";
  const figure = (name, value, differs) => el("div", {class: differs}, el("dt", null, name), el("dd", null, value));
  return el("div", null,
    el("p", null, el("span", {class: "state " + t.outcome}, t.outcome), t.stop && muted(` run ${t.status || ""}: ${t.stop}`), t.stop_reason && ` ${t.stop_reason}`),
    failure(t.error),
    el("dl", {class: "facts"},
      t.outcome !== "skipped" && figure("Score", score(t.score), other("score")),
      figure("Latency", span(t.ms)), figure("Tokens", amount(t.tokens)), priced && figure("Cost", money(t.cost)),
      figure("Model calls", count(t.model_calls), other("model_calls")), figure("Tool calls", count(t.tool_calls), other("tool_calls")),
      t.run && figure("Run", el("code", null, t.run)), when(t.at) && figure("Ended", when(t.at))));
}

function failure(text) {
  return text && el("div", {class: "note bad"}, el("strong", null, "error"), block(text));
}

function checksOf(t, r) {
  if (!(t.marks || []).length) return null;
  return t.marks.map((m) => {
    const others = r && (r.marks || []).find((o) => o.check === m.check);
    return check(m, r && (!others || others.pass !== m.pass || others.score !== m.score));
  });
}

function check(m, differs) {
  const word = m.error ? "could not grade" : m.pass ? "passes" : "fails";
  const partial = m.score !== 0 && m.score !== 1;
  const summary = [badge(word), el("b", null, m.check), muted(` ${m.type}`), partial && el("span", null, ` score ${score(m.score)}`),
    m.weight !== 1 && muted(m.weight ? `, weight ${m.weight}` : ", not graded"), differs && badge("differs")];
  const body = [m.message && el("p", {class: "message"}, m.message), failure(m.error), sides(m), m.diff && unified(m.diff),
    m.cost_usd > 0 && muted(`graded for ${money(m.cost_usd)}, ${amount(m.tokens)} tokens`)];
  return opening(!m.pass, summary, body);
}

function sides(m) {
  if (!m.expected && !m.actual) return null;
  return el("div", {class: "sides"}, titled("Expected", own("expected", m)), titled("Actual", own("actual", m)));
}

function stepsOf(t, r) {
  if (!(t.steps || []).length) return null;
  return el("div", null, t.plan > 1 && muted(`plan ${t.plan}: it was changed ${plural(t.plan - 1, "time")}`),
    t.steps.map((s, i) => step(s, r && ((r.steps || [])[i] || {}))));
}

function step(s, r) {
  const tools = (x) => (x.calls || []).map((c) => c.tool + " " + c.args).join("\n");
  const differs = r && (s.goal !== r.goal || s.status !== r.status || s.result !== r.result || tools(s) !== tools(r));
  const summary = [badge(s.status || "not run"), el("code", null, s.id), " ", el("span", {class: "goal"}, r ? marked(s.goal, r.goal || "") : s.goal),
    muted([s.calls && plural(s.calls.length, "tool call"), s.attempts > 1 && plural(s.attempts, "attempt"), s.ms > 0 && span(s.ms), s.tokens > 0 && amount(s.tokens) + " tokens"].filter(Boolean).map((part) => " · " + part)),
    differs && badge("differs")];
  return opening(s.status && s.status !== "ok" && s.status !== "skipped" || differs, summary, stepBody(s, r));
}

function stepBody(s, r) {
  return [
    failure(s.error),
    el("dl", {class: "facts"}, text("Done when", s.success), text("Context", s.context), text("Tools", (s.tools || []).join(", ")), text("After", (s.depends_on || []).join(", ")),
      (s.args || []).map((a) => text(a.name, a.value))),
    (s.calls || []).map((c, i) => toolCall(c, r && ((r.calls || [])[i] || {}))),
    titled("Result", own("result", s, r)),
    titled("Notes", own("notes", s)),
  ];
}

function toolCall(c, r) {
  const differs = r && (c.tool !== r.tool || c.args !== r.args || c.status !== r.status);
  return opening(c.status !== "ok" || differs,
    [badge(c.status), el("code", null, c.tool), muted(" ", firstLine(c.args), ` · ${span(c.ms)}`), c.edited && badge("arguments by a person"), c.repairs && badge("arguments repaired"), differs && badge("differs")],
    [titled("Arguments", own("args", c, r)), titled("Repairs", own("repairs", c)), titled("Result", own("result", c, r))]);
}

// firstLine returns the start of a text, on one line.
function firstLine(value) {
  const flat = (value || "").replace(/\s+/g, " ");
  return flat.length > 90 ? flat.slice(0, 90) + "…" : flat;
}
