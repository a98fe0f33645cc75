package analysis

import (
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/engine/tool"
)

// NoEffect finds keys that have no effect because of another key. Each rule
// follows from what the engine and the nodes do; none is a heuristic.
var NoEffect = dsl.Analyzer{Name: "no_effect", Codes: []diag.Code{diag.NoEffect}, Run: func(p *dsl.Pass) {
	w := effectChecker{p}
	w.steps()
	w.executing()
	w.reflecting()
	w.routing()
	w.fed()
	w.absent()
	w.limits()
	w.memory()
	w.places()
	w.retries()
	w.reviews()
	w.hosts()
	w.approvers()
	w.datetime()
	w.shell()
}}

// effectChecker checks the keys that the author of one spec wrote.
type effectChecker struct{ *dsl.Pass }

// report reports a key that has no effect, if the author wrote it in the spec's own
// file.
func (w effectChecker) report(e dsl.Entry, ok bool, called, because, hint string) {
	if ok && w.InSpecFile(e.Place) {
		w.Warn(diag.NoEffect, e.Place, "%s has no effect: %s", called, because).Hint = hint
	}
}

// reportKey reports a key of the tree as having no effect.
func (w effectChecker) reportKey(because, hint string, path ...string) {
	e, ok := entryOf(w.Spec.Tree(), path...)
	w.report(e, ok, strings.Join(path, "."), because, hint)
}

// reportNode reports a key of a node as having no effect.
func (w effectChecker) reportNode(n part, because, hint string, path ...string) {
	e, ok := n.entry(path...)
	w.report(e, ok, strings.Join(append([]string{n.id}, path...), "."), because, hint)
}

// datetime: the format has no effect if the time is not shown.
func (w effectChecker) datetime() {
	if w.Program.Datetime == "" {
		w.reportKey("prompts do not contain the time", "write inject_datetime: true", "datetime_format")
	}
}

// memory: without a store no conversations are stored, so there are no earlier
// turns.
func (w effectChecker) memory() {
	switch backend := w.Program.Memory.Backend; backend {
	case "postgres":
		w.reportKey("memory.backend is postgres", "remove it, or write backend: badger", "memory", "path")
		return
	default:
		w.reportKey("memory.backend is "+backend, "remove it, or write backend: postgres", "memory", "dsn_env")
		if backend != "none" {
			return
		}
	}
	because, hint := "memory.backend is none, so nothing is stored between runs", "remove it, or write backend: badger"
	w.reportKey(because, hint, "memory", "path")
	if !w.Program.Memory.HideHistory {
		w.reportKey(because, hint, "memory", "history")
	}
	w.reportKey(because, hint, "limits", "message_history_limit")
	for _, n := range parts(w.Pass) {
		if n.typ == language.Planner {
			w.reportNode(n, because, hint, "planner_with_history_template")
		}
	}
	for _, t := range w.Tools {
		if t.Stateful && w.InSpecFile(t.Entry.Place) {
			w.Warn(diag.NoEffect, t.Entry.Place, "every call of tool %q fails: memory.backend is none, so it cannot store anything", t.Spec.Name).
				Hint = "remove it, or write backend: badger"
		}
	}
}

// retries: settings for the time between attempts have no effect with a single
// attempt.
func (w effectChecker) retries() {
	tree := w.Spec.Tree()
	for _, section := range []string{"llms", "tools"} {
		for _, e := range tree.Get(section).Entries() {
			w.retry(section+"."+e.Key, e.Value)
		}
	}
	for _, e := range tree.Get("llms").Entries() {
		for _, v := range e.Value.Get("fallback").Items() {
			if v.Text() == e.Key && w.InSpecFile(v.Place()) {
				w.Warn(diag.NoEffect, v.Place(), "LLM %q falls back to itself, which repeats the call that just failed", e.Key).
					Hint = "name another LLM; to retry this one, set retry.max_attempts"
			}
		}
	}
}

// reviews: only calls that write are reviewed. Whether the tools of a server
// write is known only once they are listed.
func (w effectChecker) reviews() {
	for _, t := range w.Tools {
		e, ok := entryOf(w.Spec.Tree().Get("tools", t.Spec.Name), "on_unknown")
		switch {
		case t.Spec.Type == "agent":
			w.report(e, ok, "tools."+t.Spec.Name+".on_unknown", "the tool is an agent", "set it on the tools of the agent, in its own spec")
		case t.Spec.Effect == tool.ReadEffect || t.Spec.Effect == tool.IdempotentEffect:
			w.report(e, ok, "tools."+t.Spec.Name+".on_unknown", "only calls with effect: write are reviewed", "remove it")
		}
	}
}

// hosts: no machine runs an agent or a question as a whole.
func (w effectChecker) hosts() {
	for _, t := range w.Tools {
		e, ok := entryOf(w.Spec.Tree().Get("tools", t.Spec.Name), "host")
		switch {
		case t.Spec.Type == "agent":
			w.report(e, ok, "tools."+t.Spec.Name+".host", "the tool is an agent", "set it on the tools of the agent, in its own spec")
		case t.Asks:
			w.report(e, ok, "tools."+t.Spec.Name+".host", "people answer its calls", "remove it")
		}
	}
}

func (w effectChecker) retry(called string, v dsl.Value) {
	attempts, ok := entryOf(v, "retry", "max_attempts")
	if !ok || attempts.Value.Text() != "1" {
		return
	}
	for _, key := range []string{"initial_delay", "max_delay", "jitter"} {
		e, ok := entryOf(v, "retry", key)
		w.report(e, ok, called+".retry."+key, "with max_attempts: 1, calls are not retried", "remove it, or allow more attempts")
	}
}
