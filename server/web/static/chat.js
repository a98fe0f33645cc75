"use strict";
// Shows the answer of the run under way as its model writes it, and keeps the end of the chat in view.
(() => {
  const byID = (id) => document.getElementById(id);
  const stream = byID("stream");
  const end = () => byID("message").scrollIntoView({ block: "end" });

  // answerIn returns the answer in the beginning of a reply: the string result of an object, or
  // the text of a finalizer; "" if there is none.
  function answerIn(reply, role) {
    const start = reply.match(/"(?:result|response)"\s*:\s*"/);
    if (!start) return role === "finalizer" && !/^\s*(\{|```)/.test(reply) ? reply : "";
    let text = reply.slice(start.index + start[0].length).match(/^(?:[^"\\]|\\.)*/s)[0];
    while (text) {
      try {
        return JSON.parse('"' + text.replace(/\n/g, "\\n") + '"');
      } catch {
        text = text.slice(0, -1); // ends within an escape sequence
      }
    }
    return "";
  }

  let source = null;
  let followed = "";
  let replies = new Map();

  function follow() {
    const live = byID("live");
    const run = live.dataset.events ? live.dataset.run : "";
    if (run === followed) return;
    if (source) source.close();
    source = null;
    followed = run;
    replies = new Map();
    stream.hidden = true;
    stream.textContent = "";
    if (!run) return;
    source = new EventSource("/v1/runs/" + encodeURIComponent(run) + "/events");
    source.addEventListener("model.delta", (e) => {
      const event = JSON.parse(e.data);
      if (event.agent || !event.text || event.role === "executor") return;
      replies.set(event.path, (replies.get(event.path) || "") + event.text);
      const text = answerIn(replies.get(event.path), event.role);
      if (!text) return;
      stream.textContent = text;
      stream.hidden = false;
      end();
    });
    source.addEventListener("end", () => source && source.close());
  }

  // The list of turns is replaced when the run has news.
  let turns = byID("live").textContent;
  new MutationObserver(() => {
    follow();
    if (byID("live").textContent === turns) return;
    turns = byID("live").textContent;
    end();
  }).observe(byID("live").parentElement, { childList: true });
  follow();
  if (byID("live").querySelector(".turn")) end();
})();
