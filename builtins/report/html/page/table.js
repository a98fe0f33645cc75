// The table of cases: filters, sort order, pages.

const pageSize = 50;
const filters = {text: "", outcome: "", variant: "", group: "", tag: "", check: ""};
const order = {by: "", down: false};
const collator = new Intl.Collator("en", {numeric: true});
let shown = []; // cases that pass the filters, in order
let pageAt = 0;

const outcomeFilters = [
  ["passed every trial", (c) => c.state === "passed"],
  ["failed a trial", (c) => c.n > c.passed],
  ["flaky", (c) => c.flaky],
  ["with errors", (c) => c.errors > 0],
  ["with skipped trials", (c) => c.skipped > 0],
  ["newly failing", (c) => c.direction === directions[0]],
  ["newly passing", (c) => c.direction === directions[2]],
  ["regressed significantly", (c) => c.change === "regressed"],
  ["improved significantly", (c) => c.change === "improved"],
  ["changed in any way", (c) => c.change],
  ["quarantined", (c) => c.quarantined],
];

// columns returns the columns that have data in this report.
let columns = [];

function columnsOf() {
  return [
    {id: "case", name: "Case", value: (c) => c.id, cell: nameCell},
    severalVariants && {id: "variant", name: "Variant", value: (c) => c.variant, cell: (c) => word(c.variant)},
    cases.some((c) => c.group) && {id: "group", name: "Group", value: (c) => c.group || "", cell: (c) => word(c.group)},
    {id: "result", name: "Passed", value: (c) => c.n ? c.pass_rate : -1, cell: resultCell},
    figureColumn("score", "Score", (c) => c.n ? c.score : -1, (x) => x < 0 ? "–" : score(x)),
    figureColumn("latency", "Latency", (c) => c.latency_ms, span),
    figureColumn("tokens", "Tokens", (c) => c.tokens, amount),
    priced && figureColumn("cost", "Cost", (c) => c.cost_usd, money),
    cases.some((c) => c.why || c.check) && {id: "why", name: "First failure", value: (c) => [c.check, c.why].join(" ").trim(), cell: whyCell},
  ].filter(Boolean);
}

function figureColumn(id, name, value, write) {
  return {id, name, number: true, value, cell: (c) => write(value(c))};
}

function nameCell(c) {
  return [
    el("div", {class: "name"}, toCase({case: c.id, variant: c.variant}, c.id), badges(c)),
    c.about && el("div", {class: "about", title: c.about}, c.about),
  ];
}

function word(value) {
  return el("div", {class: "word", title: value}, value);
}

function resultCell(c) {
  const said = c.n ? `${c.passed}/${c.n}` : c.state;
  return el("div", {class: "result"}, pips(c), el("span", {class: "state " + c.state}, said), c.n > 0 && c.errors > 0 && el("span", {class: "state error"}, ` ${plural(c.errors, "error")}`));
}

// pips returns one mark per trial, unless there are too many.
function pips(c) {
  if (c.trials.length > 12) return null;
  return el("span", {class: "pips", "aria-hidden": "true"}, c.trials.map((t) => el("i", {class: t.outcome, title: `trial ${t.repeat}: ${t.outcome}`})));
}

function whyCell(c) {
  return el("div", {class: "why", title: c.why}, c.check && el("b", null, c.check), c.check && c.why && " ", c.why);
}

function drawTable() {
  columns = columnsOf();
  place("cases",
    el("h2", null, "Cases ", el("span", {class: "muted", id: "found", role: "status"})),
    toolbar(),
    el("div", {class: "scroll", on: {keydown: tableKey}}, el("table", {id: "table"},
      el("thead", null, el("tr", null, columns.map(headCell))),
      el("tbody", {id: "lines"}))),
    el("nav", {id: "pages", "aria-label": "Pages of cases"}));
  refresh();
}

function headCell(column) {
  return el("th", {scope: "col", id: "by-" + column.id, class: column.number && "num"},
    el("button", {type: "button", on: {click: () => sortBy(column.id)}}, column.name, el("span", {class: "arrow", "aria-hidden": "true"})));
}

function toolbar() {
  return el("form", {class: "toolbar", role: "search", on: {submit: (e) => e.preventDefault()}},
    el("label", {class: "search"}, el("span", null, "Find"), el("input", {type: "search", id: "find", placeholder: "id, question, failure  ( / )", autocomplete: "off", spellcheck: "false", on: {input: (e) => narrow("text", e.target.value.trim().toLowerCase()), keydown: leaveSearch}})),
    select("Outcome", "outcome", outcomeFilters.filter(([, holds]) => cases.some(holds)).map(([name]) => name)),
    severalVariants && select("Variant", "variant", named((c) => [c.variant])),
    select("Group", "group", named((c) => [c.group])),
    select("Tag", "tag", named((c) => c.tags)),
    select("Failed check", "check", named((c) => c.checks)),
    el("button", {type: "reset", on: {click: resetFilters}}, "Reset"));
}

// named lists the values of the cases, for a select element.
function named(values) {
  const all = new Set(cases.flatMap((c) => [...values(c)]).filter(Boolean));
  return [...all].sort(collator.compare);
}

// select creates a select element. The value of an option is its index, so that any text is allowed.
function select(name, filter, choices) {
  if (!choices.length) return null;
  const change = (e) => narrow(filter, e.target.value === "" ? "" : choices[e.target.value]);
  return el("label", null, el("span", null, name),
    el("select", {id: "only-" + filter, on: {change}}, el("option", {value: ""}, "all"), choices.map((name, i) => el("option", {value: i}, name))));
}

function narrow(filter, value) {
  filters[filter] = value;
  refresh();
}

function resetFilters() {
  for (const name of Object.keys(filters)) filters[name] = "";
  refresh();
}

function sortBy(id) {
  const down = columns.find((c) => c.id === id).number || false; // numbers: highest first
  if (order.by !== id) Object.assign(order, {by: id, down});
  else if (order.down === down) order.down = !down;
  else Object.assign(order, {by: "", down: false});
  refresh();
}

// refresh filters and sorts again, and shows the first page.
function refresh() {
  const start = performance.now();
  const outcome = outcomeFilters.find(([name]) => name === filters.outcome);
  shown = cases.filter((c) => (!filters.text || c.text.includes(filters.text)) && (!outcome || outcome[1](c)) &&
    (!filters.variant || c.variant === filters.variant) && (!filters.group || c.group === filters.group) &&
    (!filters.tag || c.tags.has(filters.tag)) && (!filters.check || c.checks.has(filters.check)));
  sortShown();
  pageAt = 0;
  drawLines();
  performance.measure("refresh", {start});
}

function sortShown() {
  for (const c of columns) {
    const th = byId("by-" + c.id);
    if (c.id === order.by) th.setAttribute("aria-sort", order.down ? "descending" : "ascending");
    else th.removeAttribute("aria-sort");
  }
  const column = columns.find((c) => c.id === order.by);
  if (!column) return;
  const compare = (a, b) => typeof a === "number" ? a - b : collator.compare(a, b);
  const keyed = shown.map((c) => [column.value(c), c]);
  keyed.sort((a, b) => (order.down ? compare(b[0], a[0]) : compare(a[0], b[0])) || a[1].place - b[1].place);
  shown = keyed.map(([, c]) => c);
}

function drawLines() {
  const from = pageAt * pageSize;
  place("found", shown.length === cases.length ? count(cases.length) : `${count(shown.length)} of ${count(cases.length)}`);
  place("lines", shown.slice(from, from + pageSize).map(line));
  if (!shown.length) place("lines", el("tr", null, el("td", {colspan: columns.length, class: "muted"}, "No cases match.")));
  drawPages();
}

function line(c) {
  const open = (e) => { if (!e.target.closest("a") && !String(getSelection())) location.hash = hashOf({case: c.id, variant: c.variant}); };
  return el("tr", {class: "line", on: {click: open}}, columns.map((column) => el("td", {class: column.number && "num"}, column.cell(c))));
}

function drawPages() {
  const last = Math.ceil(shown.length / pageSize) - 1;
  const button = (name, to) => el("button", {type: "button", disabled: to < 0 || to > last, on: {click: () => turn(to)}}, name);
  place("pages", last > 0 && [button("Previous", pageAt - 1),
    el("span", null, `${count(pageAt * pageSize + 1)} to ${count(Math.min(shown.length, (pageAt + 1) * pageSize))} of ${count(shown.length)}`),
    button("Next", pageAt + 1)]);
}

function turn(to) {
  pageAt = to;
  drawLines();
  byId("table").scrollIntoView({block: "start"});
}

// tableKey moves between rows with the arrow keys.
function tableKey(e) {
  const links = [...document.querySelectorAll("#lines a")];
  const at = links.indexOf(document.activeElement);
  if (at < 0) return;
  const to = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: links.length - 1}[e.key];
  if (to === undefined || e.ctrlKey || e.altKey || e.metaKey) return;
  e.preventDefault();
  links[Math.min(Math.max(to, 0), links.length - 1)].focus();
}

// leaveSearch moves the focus from the search box to the first row.
function leaveSearch(e) {
  const first = document.querySelector("#lines a");
  if ((e.key === "ArrowDown" || e.key === "Enter") && first) {
    e.preventDefault();
    first.focus();
  }
}
