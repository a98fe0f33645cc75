// An opened case: its trials, one at a time or two variants side by side.

// drawCase shows the case in the hash: {case, variant, trial, with}.
function drawCase(where) {
  const named = byLabel.get(where.case) || {id: where.case, variant: where.variant};
  const lines = byCase.get(where.case) || byCase.get(named.id);
  if (!lines) return place("opened", caseBar(null), note("warn", "There is no such case", where.case));
  const c = lines.find((l) => l.variant === named.variant) || lines[0];
  const t = c.trials.find((one) => one.repeat === Number(where.trial)) || c.trials.find((one) => one.outcome === "failed") || c.trials[0];
  const rivalCase = lines.find((l) => l !== c && l.variant === where.with);
  const rival = rivalCase && t && rivalCase.trials.find((one) => one.repeat === t.repeat);
  const one = t && full(t);
  place("opened", caseBar(c), caseHead(c, one),
    (lines.length > 1 || c.trials.length > 1) && matrix(lines, c, t, rivalCase),
    !t && muted("It has no trials."),
    one && (rival ? beside(one, full(rival)) : alone(one)),
    rivalCase && !rival && note("warn", `${variantName(rivalCase.variant)} has no trial ${t ? t.repeat : ""} of this case`));
}

// caseBar links back to the table and to the neighboring cases.
function caseBar(c) {
  const at = shown.indexOf(c);
  const to = (i, name, key) => shown[i] && at >= 0 ? toCase({case: shown[i].id, variant: shown[i].variant}, name, {id: "go-" + key, title: `${shown[i].id} (${key})`}) : muted(name);
  return el("nav", {class: "casebar", "aria-label": "Cases"},
    el("a", {href: "#cases", id: "go-back", title: "back to all cases (Esc)"}, "← All cases"),
    c && at >= 0 && muted(`${count(at + 1)} of ${count(shown.length)}`),
    c && [to(at - 1, "Previous", "p"), to(at + 1, "Next", "n")]);
}

function caseHead(c, t) {
  return [
    el("h1", {class: "caseid"}, c.id, " ", el("span", {class: "state " + c.state}, c.n ? `${c.passed}/${c.n} passed` : c.state), badges(c)),
    el("dl", {class: "facts"}, text("Group", c.group), text("Tags", [...c.tags].join(", ")), text("Dataset line", c.line), t && t.weight !== 1 && text("Weight", t.weight),
      c.n > 0 && text("95% interval", `${percent(c.ci_low)} to ${percent(c.ci_high)}`)),
    t && inputs(t),
  ];
}

function inputs(t) {
  const list = (all) => el("dl", {class: "inputs"}, (all || []).map((f) => el("div", null, el("dt", null, f.name), el("dd", null, block(f.value)))));
  const same = JSON.stringify(t.input) === JSON.stringify(t.parameters);
  return [
    t.parameters && folded(!t.input || same, "Parameters of the run", list(t.parameters)),
    t.input && !same && folded(true, "The case in the dataset", list(t.input)),
  ];
}

// matrix shows the trials of all variants, to select a trial or a variant to compare with.
function matrix(lines, c, t, rivalCase) {
  return el("div", {class: "scroll"}, el("table", {class: "compact matrix"}, el("tbody", null, lines.map((l) => el("tr", {class: l === c && "chosen"},
    el("th", {scope: "row"}, variantName(l.variant)),
    el("td", null, l.trials.map((one) => trialLink(l, one, one === t))),
    num(l.n ? percent(l.pass_rate) : "–"),
    num(muted(span(l.latency_ms))),
    lines.length > 1 && el("td", null, l === c ? muted("shown") : compareLink(c, t, l, rivalCase)))))));
}

function trialLink(c, one, current) {
  const title = `trial ${one.repeat} ${c.variant ? "of " + c.variant + " " : ""}${one.outcome}`;
  return toCase({case: c.id, variant: c.variant, trial: one.repeat}, one.repeat, {class: "trial " + one.outcome, title, "aria-label": title, "aria-current": current && "true"});
}

function compareLink(c, t, l, rivalCase) {
  const where = {case: c.id, variant: c.variant, trial: t && t.repeat};
  return l === rivalCase ? toCase(where, "stop comparing") : toCase({...where, with: l.variant}, "compare");
}

function alone(t) {
  return sections.map(([title, draw]) => part(title, draw(t)));
}

function part(title, node) {
  return node && el("section", {class: "part"}, el("h3", null, title), node);
}

// beside shows two trials side by side, section by section, with differences marked.
function beside(a, b) {
  return el("div", {class: "beside"}, sections.map(([title, draw]) => {
    const left = draw(a, b), right = draw(b, a);
    if (!left && !right) return null;
    return [[a, left], [b, right]].map(([t, node]) => part([title, muted(" ", variantName(t.variant))], node || muted("none")));
  }));
}
