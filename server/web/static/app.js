"use strict";
(() => {
  const html = window.trustedTypes
    ? trustedTypes.createPolicy("pex", { createHTML: (text) => text })
    : { createHTML: (text) => text };
  const byID = (id) => document.getElementById(id);
  const offline = byID("offline");

  // say shows what is wrong with the connection, with a link to a page that helps.
  function say(text, link, href) {
    if (offline.dataset.text === text) return;
    offline.dataset.text = text;
    offline.textContent = text;
    offline.hidden = !text;
    if (link) {
      const a = document.createElement("a");
      a.textContent = link;
      a.href = href;
      a.target = "_blank";
      offline.append(" ", a);
    }
  }

  // announce tells a screen reader what has happened.
  function announce(text) {
    byID("said").textContent = text;
  }

  // get returns a page of this server.
  async function get(url) {
    const response = await fetch(url, { headers: { Accept: "text/html" }, redirect: "manual" });
    const text = await response.text();
    return { status: response.status, page: new DOMParser().parseFromString(html.createHTML(text), "text/html") };
  }

  const isTyped = (root) => [...root.querySelectorAll("input,textarea")].some((f) => f.value !== f.defaultValue);

  // keepFocus changes the page, and returns the focus to the element that replaces the focused one.
  function keepFocus(change) {
    const old = document.activeElement;
    const place = old.closest("[id]");
    const href = old.getAttribute("href");
    change();
    if (old === document.body || document.activeElement === old) return;
    if (old.isConnected) {
      old.focus({ preventScroll: true });
      return;
    }
    const within = (place && byID(place.id)) || byID("main");
    const kind = href ? `a[href="${CSS.escape(href)}"]` : old.value ? `${old.localName}[value="${CSS.escape(old.value)}"]` : old.localName;
    (within.matches(kind) ? within : within.querySelector(kind))?.focus({ preventScroll: true });
  }

  // patch shows the new version of an element. An element with the same version stays: the
  // server does not send its content again.
  function patch(old, fresh) {
    if (old.dataset.v === fresh.dataset.v && fresh.dataset.v) return old;
    if (fresh.classList.contains("chunk")) {
      patchChildren(old, fresh);
      old.dataset.v = fresh.dataset.v;
      old.className = fresh.className;
      return old;
    }
    const body = old.open && fresh.querySelector(":scope > .body");
    if (body) {
      fresh.open = true;
      if ("load" in body.dataset) body.replaceChildren(body.firstElementChild, ...old.querySelector(":scope > .body").childNodes);
    }
    old.replaceWith(fresh);
    if (body) load(fresh);
    return fresh;
  }

  // patchChildren patches the children of an element, which have ids.
  function patchChildren(old, fresh) {
    const known = new Map([...old.children].map((e) => [e.id, e]));
    let last = null;
    for (const e of [...fresh.children]) {
      const was = known.get(e.id);
      const now = was ? patch(was, e) : e;
      known.delete(e.id);
      const next = last ? last.nextElementSibling : old.firstElementChild;
      if (next !== now) old.insertBefore(now, next);
      last = now;
    }
    for (const e of known.values()) e.remove();
  }

  // patchQuestions keeps the forms of questions that are still open, and the others if a person
  // has typed something.
  function patchQuestions(old, fresh) {
    const digest = (e) => (e.matches("[data-digest]") ? e : e.querySelector("[data-digest]"))?.dataset.digest || "";
    const known = new Map([...old.children].map((e) => [digest(e), e]));
    for (const e of [...fresh.children]) {
      const key = digest(e);
      const was = known.get(key);
      if (was) {
        known.delete(key);
        continue;
      }
      old.append(e);
      if (key) announce("The run asks: " + e.querySelector("strong").textContent);
    }
    for (const e of known.values()) {
      if (!isTyped(e)) {
        e.remove();
        continue;
      }
      if (e.querySelector(".gone")) continue;
      for (const b of e.querySelectorAll("button")) b.disabled = true;
      const note = document.createElement("p");
      note.className = "note warn gone";
      note.role = "status";
      note.textContent = "This question is no longer open. What you typed stays here.";
      e.append(note);
    }
  }

  // replace shows the new content of a list, and keeps what is selected.
  let shown = "";
  function replace(old, fresh) {
    const content = fresh.innerHTML;
    if (content === shown) return;
    shown = content;
    for (const box of old.querySelectorAll("input:checked")) {
      const same = fresh.querySelector(`input[value="${CSS.escape(box.value)}"]`);
      if (same) same.checked = true;
    }
    old.replaceWith(fresh);
  }

  function update(page) {
    const live = byID("live");
    const fresh = page.getElementById("live");
    if (live && fresh && byID("rows")) {
      if (live.dataset.status !== fresh.dataset.status) announce("The run is " + fresh.dataset.status + ".");
      for (const name of ["events", "poll", "status"]) {
        if (name in fresh.dataset) live.dataset[name] = fresh.dataset[name];
        else delete live.dataset[name];
      }
      for (const part of fresh.querySelectorAll(".part")) patch(byID(part.id), part);
      patchChildren(byID("rows"), page.getElementById("rows"));
      for (const id of ["actions", "message"]) if (!isTyped(byID(id))) patch(byID(id), page.getElementById(id));
    } else if (live && fresh) {
      replace(live, fresh);
      const message = byID("message");
      if (message && !isTyped(message)) patch(message, page.getElementById("message"));
    }
    const questions = byID("questions");
    if (questions) patchQuestions(questions, page.getElementById("questions"));
    byID("inbox").replaceChildren(...page.getElementById("inbox").childNodes);
    document.title = page.title;
  }

  let loading = false;
  let again = false;
  let rest = 300;
  async function refresh() {
    if (loading) {
      again = true;
      return;
    }
    loading = true;
    const began = performance.now();
    try {
      const url = new URL(location.href);
      url.hash = "";
      if (byID("rows")) url.searchParams.set("have", [...document.querySelectorAll("#live .part, #rows > .chunk")].map((e) => e.dataset.v).join("."));
      const { status, page } = await get(url);
      if (status === 401) {
        say("You are signed out. What you have typed here stays.", "Sign in in another tab", location.href);
      } else if (status === 404) {
        say("This no longer exists.");
        stop();
      } else if (status === 200) {
        say("");
        keepFocus(() => update(page));
        watch();
      } else {
        throw new Error(status);
      }
    } catch {
      say("The server does not respond. The page continues when it does.");
    } finally {
      loading = false;
      rest = Math.max(300, 2 * (performance.now() - began)); // the server and the page need time for other things
      if (again) {
        again = false;
        soon();
      }
    }
  }

  let timer = 0;
  function soon() {
    if (!timer) {
      timer = setTimeout(() => {
        timer = 0;
        refresh();
      }, rest);
    }
  }

  let source = null;
  let poll = 0;
  function unfollow() {
    if (source) source.close();
    source = null;
  }

  function stop() {
    unfollow();
    clearInterval(poll);
    poll = 0;
  }

  const watched = () => byID("live") || byID("questions");

  // watch follows the events of a run that executes, and otherwise polls.
  function watch() {
    const live = watched();
    const { events, poll: every } = live ? live.dataset : {};
    if (source && (!events || source.readyState === EventSource.CLOSED)) unfollow();
    if (events && !source) {
      source = new EventSource(events);
      for (const type of ["plan.created", "step.started", "step.completed", "model.started", "model.completed", "tool.started", "tool.completed",
        "interrupt.raised", "message.received", "limit.reached", "run.completed", "rewound"]) source.addEventListener(type, soon);
      source.addEventListener("end", () => {
        unfollow();
        soon();
      });
    }
    clearInterval(poll);
    poll = every ? setInterval(() => document.hidden || refresh(), Number(every)) : 0;
  }

  // load shows the content of a call.
  async function load(item) {
    const body = item.querySelector(":scope > .body[data-load]");
    if (!body || body.ariaBusy) return;
    body.ariaBusy = "true";
    try {
      const { status, page } = await get(body.querySelector(":scope > p > a").href);
      const call = page.getElementById("call");
      if (status === 404) say("This no longer exists.");
      if (status !== 200 || !call) throw new Error(status);
      const open = [...body.querySelectorAll("details")].map((d) => d.open);
      body.replaceChildren(...call.childNodes);
      [...body.querySelectorAll("details")].forEach((d, i) => { d.open = Boolean(open[i]); });
      delete body.dataset.load;
    } catch {
      const note = document.createElement("p");
      note.className = "note warn";
      note.textContent = "The call could not be loaded. Close it and open it again.";
      body.querySelector(":scope > .note")?.remove();
      body.append(note);
    } finally {
      body.ariaBusy = null;
    }
  }

  document.addEventListener("visibilitychange", () => document.hidden || watched() && refresh());

  document.addEventListener("toggle", (e) => {
    if (e.target.open && e.target.matches("details.item")) load(e.target);
  }, true);

  // The keys, which the dialog in the layout lists.
  const keys = {
    j: () => step(1),
    k: () => step(-1),
    "/": () => byID("filter"),
    a: () => document.querySelector("button[value=approve]"),
    d: () => document.querySelector("input[name=reason]"),
    m: () => document.querySelector("#message input, #message textarea"),
    "?": () => {
      byID("keys").showModal();
      return byID("keys").querySelector("button");
    },
  };

  // step returns the row after the focused one, or before it.
  function step(by) {
    const rows = [...document.querySelectorAll(".rows .question a, #rows > .chunk > .item > summary")];
    const at = rows.indexOf(document.activeElement);
    return rows[Math.min(Math.max(at + by, 0), rows.length - 1)];
  }

  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName) || e.target.closest("dialog[open]")) return;
    const target = Object.hasOwn(keys, e.key) && keys[e.key]();
    if (!target) return;
    target.focus();
    e.preventDefault();
  });
  byID("show-keys").hidden = false;
  byID("show-keys").addEventListener("click", () => keys["?"]());

  watch();
})();
