package analysis

import (
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
)

// Distributed finds what a run on several machines cannot do: tools that need the files or the
// programs of one machine, and tools that change the session state of a store that only one
// machine can open. It is not one of All: on one machine, none of that is a mistake.
var Distributed = dsl.Analyzer{Name: "distributed", Codes: []diag.Code{diag.NeedsHost, diag.SharedSession}, Run: func(p *dsl.Pass) {
	for _, t := range p.Tools {
		if what := t.Spec.NeedsHost(); what != "" {
			p.Error(diag.NeedsHost, t.Entry.Place, "tool %q needs %s, which other machines may not have", t.Spec.Name, what).
				Hint = "write host: LABEL, the label of the workers that have them, or host: any if all workers have them"
		}
	}
	if !p.Nested && p.Program.Memory.Backend == "badger" {
		sharedSession(p)
	}
}}

// sharedSession reports the tools of a program and of its agents that change the session state.
// All of them use the store of the outermost program.
func sharedSession(p *dsl.Pass) {
	report := func(at dsl.Place, name string) {
		p.Error(diag.SharedSession, at, "tool %s changes the session state of the conversation, and memory.backend is badger, which only one machine can open", name).
			Hint = "write memory: {backend: postgres, dsn_env: VARIABLE}"
	}
	for _, t := range p.Tools {
		if t.Stateful {
			report(t.Entry.Place, `"`+t.Spec.Name+`"`)
		}
	}
	for _, a := range p.Program.Agents {
		if name := a.StatefulTool(); name != "" {
			report(callerPlace(p, a.Caller), `"`+name+`" of the agent `+a.Name)
		}
	}
}

// callerPlace returns the place of the tool or node that calls an agent.
func callerPlace(p *dsl.Pass, caller string) dsl.Place {
	for _, t := range p.Tools {
		if caller == "tools."+t.Spec.Name {
			return t.Entry.Place
		}
	}
	at := p.Spec.Tree().Get(strings.Split(caller, ".")...)
	if !at.Exists() {
		at = p.Spec.Tree().Get("metadata")
	}
	return at.Place()
}
