"use strict";
(() => {
  const html = window.trustedTypes
    ? trustedTypes.createPolicy("pex", { createHTML: (text) => text })
    : { createHTML: (text) => text };
  const offline = document.getElementById("offline");

  function say(text) {
    offline.textContent = text;
    offline.hidden = !text;
  }

  // keyed returns the details below an element by a key that stays the same when calls are added.
  function keyed(root) {
    const keys = new Map();
    for (const d of root.querySelectorAll("details")) {
      const anchor = d.querySelector(":scope > .body[id]") || d.closest(".body[id]");
      const within = anchor && anchor.parentElement !== d ? [...anchor.querySelectorAll("details")].indexOf(d) : "";
      keys.set((anchor ? anchor.id : "") + "/" + within, d);
    }
    return keys;
  }

  // replace shows the new content of an element, and keeps what is open, selected and focused.
  function replace(old, fresh) {
    const open = new Set([...keyed(old)].filter(([, d]) => d.open).map(([key]) => key));
    for (const [key, d] of keyed(fresh)) d.open = open.has(key);
    for (const box of old.querySelectorAll("input:checked")) {
      const same = fresh.querySelector(`input[value="${CSS.escape(box.value)}"]`);
      if (same) same.checked = true;
    }
    const focused = old.contains(document.activeElement) && document.activeElement.getAttribute("href");
    old.replaceWith(fresh);
    if (focused) fresh.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  }

  // replaceQuestions keeps forms in which a person has typed something.
  function replaceQuestions(old, fresh) {
    const typed = [...old.querySelectorAll("input,textarea")].some((f) => f.value !== f.defaultValue);
    const digests = (root) => [...root.querySelectorAll("[data-digest]")].map((f) => f.dataset.digest).join();
    if (digests(old) === digests(fresh)) return;
    if (typed || old.contains(document.activeElement)) {
      say("The open questions have changed. Reload the page to see them; your text stays until then.");
      return;
    }
    old.replaceWith(fresh);
  }

  let loading = false;
  let again = false;
  async function refresh() {
    if (loading) {
      again = true;
      return;
    }
    loading = true;
    try {
      const response = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "manual" });
      if (response.status === 401) {
        say("You are signed out. Sign in in another tab; what you have typed here stays.");
        return;
      }
      if (response.status === 404) {
        say("This no longer exists.");
        stop();
        return;
      }
      if (!response.ok) throw new Error(response.status);
      const page = new DOMParser().parseFromString(html.createHTML(await response.text()), "text/html");
      say("");
      const live = document.getElementById("live");
      const fresh = page.getElementById("live");
      if (live && fresh) replace(live, fresh);
      const questions = document.getElementById("questions");
      const freshQuestions = page.getElementById("questions");
      if (questions && freshQuestions) replaceQuestions(questions, freshQuestions);
      document.querySelector("nav.top").replaceWith(page.querySelector("nav.top"));
      document.title = page.title;
      watch();
    } catch {
      say("The server does not respond. The page continues when it does.");
    } finally {
      loading = false;
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
      }, 300);
    }
  }

  let source = null;
  let poll = 0;
  function stop() {
    if (source) source.close();
    source = null;
    clearInterval(poll);
    poll = 0;
  }

  // watch follows the events of a run that executes, and otherwise polls.
  function watch() {
    const live = document.getElementById("live") || document.getElementById("questions");
    const { events, poll: every } = live ? live.dataset : {};
    if (events && !source) {
      source = new EventSource(events);
      for (const type of ["plan.created", "step.started", "step.completed", "model.started", "model.completed", "tool.started", "tool.completed",
        "interrupt.raised", "message.received", "limit.reached", "run.completed", "rewound"]) source.addEventListener(type, soon);
      source.addEventListener("end", () => {
        source.close();
        source = null;
        soon();
      });
    }
    if (!events && source) {
      source.close();
      source = null;
    }
    clearInterval(poll);
    poll = every ? setInterval(() => document.hidden || refresh(), Number(every)) : 0;
  }

  // Keys: j and k select a row, enter opens it, / filters, a approves.
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName)) return;
    const rows = [...document.querySelectorAll(".rows .question a")];
    const at = rows.indexOf(document.activeElement);
    if (e.key === "j" && rows.length) rows[Math.min(at + 1, rows.length - 1)].focus();
    else if (e.key === "k" && rows.length) rows[Math.max(at - 1, 0)].focus();
    else if (e.key === "/" && document.getElementById("filter")) document.getElementById("filter").focus();
    else if (e.key === "a" && document.querySelector("button[value=approve]")) document.querySelector("button[value=approve]").focus();
    else return;
    e.preventDefault();
  });

  watch();
})();
