package analysis

import (
	"strings"
	"time"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/memory"
)

// History finds prompt templates for plans with history that do not show the
// earlier turns of the conversation. It renders each template with a turn and
// searches the prompt for it.
var History = dsl.Analyzer{Name: "history", Codes: []diag.Code{diag.HistoryNotShown}, Run: func(p *dsl.Pass) {
	if p.Program.Memory.HideHistory || p.Program.Memory.Backend == "none" {
		return
	}
	for _, n := range parts(p) {
		e, ok := n.entry("planner_with_history_template")
		node, renders := p.Program.Nodes[n.id].(engine.Prompter)
		if n.typ != language.Planner || !ok || !renders || !p.InSpecFile(e.Place) || showsHistory(p.Program, node) {
			continue
		}
		p.Warn(diag.HistoryNotShown, e.Place, "%s does not show the conversation: it contains neither chat_history nor completed_steps", e.Key).
			Hint = "add ${parameters.chat_history}, or write memory: {history: false}"
	}
}}

// showsHistory reports whether a planner's prompt contains the answer of an
// earlier turn.
func showsHistory(p *engine.Program, n engine.Prompter) bool {
	const mark = "\x00the answer of an earlier turn\x00"
	v := engine.ViewOf(p, engine.Input{}, &engine.Result{}, []memory.Interaction{{Question: "?", Answer: mark}}, time.Time{})
	for _, m := range n.Prompt(v) {
		if strings.Contains(m.Text.String(), mark) {
			return true
		}
	}
	return false
}
