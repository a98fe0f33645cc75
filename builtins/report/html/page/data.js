// The data of the page. The report is available from the start; cases and the index
// of trials are read when the page is complete, details when they are opened.

const report = JSON.parse(document.querySelector("script.report").textContent);
const cases = []; // one row of the table each: a case of a variant
const trials = []; // {case, variant, repeat, outcome, ..., chunk, slot}
const byKey = new Map(); // cases by keyOf
const byCase = new Map(); // id -> cases, one per variant
const byLabel = new Map(); // "id [variant]", as gates and the comparison name them
let chunks = []; // elements with details
const read = new Map(); // chunk -> its details, for the most recent chunks

const severalVariants = (report.eval.variants || []).length > 1;
const priced = (report.eval.variants || []).some((v) => v.priced) || report.stats.cost.total > 0;

function keyOf(id, variant) {
  return id + "\u0000" + (variant || "");
}

// load reads the cases and the index.
function load() {
  for (const node of document.querySelectorAll("script.cases")) {
    for (const c of JSON.parse(node.textContent)) addCase(c);
    node.remove();
  }
  chunks = [...document.querySelectorAll("script.trials")];
  document.querySelectorAll("script.index").forEach((node, chunk) => {
    JSON.parse(node.textContent).forEach((t, slot) => addTrial(Object.assign(t, {chunk, slot})));
    node.remove();
  });
  noteChanges();
  cases.forEach(complete);
}

function addCase(c) {
  Object.assign(c, {variant: c.variant || "", place: cases.length, trials: [], tags: new Set(), checks: new Set(), about: "", change: ""});
  cases.push(c);
  byKey.set(keyOf(c.id, c.variant), c);
  byLabel.set(`${c.id} [${c.variant}]`, c);
  if (!byCase.has(c.id)) byCase.set(c.id, []);
  byCase.get(c.id).push(c);
}

function addTrial(t) {
  t.variant = t.variant || "";
  trials.push(t);
  const c = byKey.get(keyOf(t.case, t.variant));
  if (!c) return;
  c.trials.push(t);
  c.about = c.about || t.about || "";
  (t.tags || []).forEach((tag) => c.tags.add(tag));
  (t.failed || []).forEach((check) => c.checks.add(check));
}

function noteChanges() {
  for (const change of (report.baseline && report.baseline.changes) || []) {
    const c = byKey.get(keyOf(change.case, change.variant));
    if (c) Object.assign(c, {change: change.kind, direction: directionOf(change)});
  }
}

// complete adds to a case the values that sorting and searching need.
function complete(c) {
  c.trials.sort((a, b) => a.repeat - b.repeat);
  c.state = stateOf(c);
  c.quarantined = (report.quarantined || []).includes(c.id);
  c.text = [c.id, c.variant, c.group, c.about, c.why, c.check, ...c.tags, ...c.checks].join("\n").toLowerCase();
}

function stateOf(c) {
  if (c.n > 0) return c.passed === c.n ? "passed" : c.passed === 0 ? "failed" : "mixed";
  return c.errors > 0 ? "error" : "skipped";
}

// detailsOf returns the details of a trial. It caches the most recent chunks.
function detailsOf(t) {
  if (!read.has(t.chunk)) {
    if (read.size >= 8) read.delete(read.keys().next().value);
    read.set(t.chunk, JSON.parse(chunks[t.chunk].textContent));
  }
  return read.get(t.chunk)[t.slot];
}
