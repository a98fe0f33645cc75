// Switches between the overview and a case. This file is the last one: it starts the page.

let cameFrom = null; // element to focus when a case is closed
let scrolled = 0;

function whereOf(hash) {
  const query = new URLSearchParams(hash.slice(1));
  if (!query.has("case")) return null;
  return {case: query.get("case"), variant: query.get("variant") || "", trial: query.get("trial"), with: query.get("with")};
}

function show() {
  const where = whereOf(location.hash);
  const overview = byId("overview"), opened = byId("opened");
  if (!where) return close(overview, opened);
  if (!overview.hidden) {
    cameFrom = document.activeElement;
    scrolled = scrollY;
  }
  drawCase(where);
  const moved = opened.dataset.of !== where.case;
  opened.dataset.of = where.case;
  overview.hidden = true;
  document.title = `${visible(where.case)} · ${visible(report.eval.suite)}`;
  if (moved) scrollTo(0, 0);
  ((!moved && opened.querySelector("[aria-current]")) || opened).focus({preventScroll: true});
}

function close(overview, opened) {
  if (!overview.hidden) return;
  opened.hidden = true;
  opened.replaceChildren();
  overview.hidden = false;
  document.title = visible(`${report.eval.suite} · ${report.verdict}`);
  if (cameFrom && cameFrom.isConnected && cameFrom !== document.body) cameFrom.focus({preventScroll: true});
  scrollTo(0, scrolled);
}

// keys: / searches, Esc goes back, n and p go to the next and previous case.
function key(e) {
  if (e.ctrlKey || e.altKey || e.metaKey || e.target.closest("input, select, textarea")) return;
  const press = (id) => { const node = byId(id); if (node) node.click(); };
  if (byId("overview").hidden) {
    if (e.key === "Escape") press("go-back");
    if (e.key === "n" || e.key === "p") press("go-" + e.key);
  } else if (e.key === "/") {
    e.preventDefault();
    byId("find").focus();
  }
}

// unfold opens collapsed sections, for printing.
function unfold() {
  for (const node of document.querySelectorAll("#opened details:not([open])")) {
    node.open = true;
    addEventListener("afterprint", () => { node.open = false; }, {once: true});
  }
}

drawHead();
drawTiles();
drawGates();
drawBaseline();
drawRates();
document.addEventListener("DOMContentLoaded", () => {
  load();
  drawChanges();
  drawTable();
  drawSpreads();
  show();
  addEventListener("hashchange", show);
  addEventListener("keydown", key);
  addEventListener("beforeprint", unfold);
  performance.mark("ready");
});
