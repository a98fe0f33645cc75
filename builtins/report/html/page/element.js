// Elements. Data becomes only text nodes or attributes named in this file. No other
// file creates elements, and nothing parses markup.

// Characters that are invisible, or change the order of those around them.
const unseen = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

// visible replaces such characters by their code points.
function visible(text) {
  return text.replace(/\r\n/g, "\n").replace(unseen, (c) => "‹U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "›");
}

// el creates an element: el("td", {class: "num", on: {click: f}}, "text", child, [more]).
function el(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "on") {
      for (const [event, f] of Object.entries(value)) node.addEventListener(event, f);
    } else if (value !== undefined && value !== null && value !== false) {
      node.setAttribute(name, value === true ? "" : visible(String(value)));
    }
  }
  put(node, children);
  return node;
}

function byId(id) {
  return document.getElementById(id);
}

// put appends nodes and texts, and skips empty ones.
function put(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child instanceof Node) node.appendChild(child);
    else if (child !== undefined && child !== null && child !== false && child !== "") node.appendChild(document.createTextNode(visible(String(child))));
  }
}

// place replaces the contents of an element of the page, and shows it.
function place(id, ...children) {
  const node = byId(id);
  node.replaceChildren();
  put(node, children);
  node.hidden = false;
  return node;
}

// toCase returns a link to a case within this page. There are no other links.
function toCase(where, children, attributes) {
  return el("a", {...attributes, href: hashOf(where)}, children);
}

function hashOf(where) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(where)) if (value || name === "with") query.set(name, value);
  return "#" + query.toString();
}

// kinds maps words to styles. Words without an entry are plain.
const kinds = new Map([
  ...["passed", "passes", "ok", "improved", "non-inferior", "newly passing", "fails less often"].map((word) => [word, "good"]),
  ...["failed", "regressed", "newly failing", "fails more often", "broken", "fails", "timeout", "error", "denied"].map((word) => [word, "bad"]),
  ...["inconclusive", "budget", "incomplete", "flaky", "limit", "loop", "cancelled", "needs_review", "could not grade"].map((word) => [word, "warn"]),
  ["differs", "info"],
]);

function badge(word) {
  return word && el("span", {class: "badge " + (kinds.get(word) || "plain")}, word);
}

// badges returns the badges after the name of a case.
function badges(c) {
  return [c.flaky && badge("flaky"), c.quarantined && badge("quarantined"), badge(c.direction)];
}

function muted(...children) {
  return el("span", {class: "muted"}, children);
}

function num(...children) {
  return el("td", {class: "num"}, children);
}

// table returns a table with a header. Columns from the given index on contain numbers.
function table(names, figures, rows, attributes) {
  return el("div", {class: "scroll"}, el("table", attributes,
    el("thead", null, el("tr", null, names.map((name, i) => el("th", {scope: "col", class: i >= figures && "num"}, name)))),
    el("tbody", null, rows)));
}

// titled returns a node under a title, or nothing if there is no node.
function titled(name, node) {
  return node ? el("div", null, el("h5", null, name), node) : null;
}

// text returns a term with its description.
function text(name, ...value) {
  const said = value.flat(Infinity).some((v) => v && v !== " ");
  return said ? el("div", null, el("dt", null, name), el("dd", {dir: "auto"}, value)) : null;
}

// folded returns a collapsed section.
function folded(open, summary, ...children) {
  return el("details", {open}, el("summary", null, summary), ...children);
}

// opening returns a collapsed section, or only the line if there is no content.
function opening(open, summary, content) {
  const body = el("div", {class: "body"}, content);
  return body.textContent ? folded(open, summary, body) : el("div", {class: "plainline"}, summary);
}

// someOf shows the first of many items, and the rest on request.
function someOf(all, most, one, around = (button) => button) {
  const first = all.slice(0, most).map(one);
  if (all.length <= most) return first;
  const click = () => more.replaceWith(...all.slice(most).map(one));
  const more = around(el("button", {type: "button", class: "link", on: {click}}, `and ${count(all.length - most)} more`));
  return [...first, more];
}

// inRow wraps the button of someOf for a table.
function inRow(button) {
  return el("tr", null, el("td", {colspan: 9}, button));
}
