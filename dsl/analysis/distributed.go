package analysis

import (
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/tool"
)

// Distributed finds what a run on several machines cannot do: tools that need the files or the
// programs of one machine, and tools that change the session state of a store that only one
// machine can open. It is not one of All: on one machine, none of that is a mistake.
var Distributed = dsl.Analyzer{Name: "distributed", Codes: []diag.Code{diag.NeedsHost, diag.SharedSession}, Run: func(p *dsl.Pass) {
	for _, t := range p.Tools {
		config, ok := t.Spec.Config.(tool.HostBound)
		if !ok || t.Spec.Host != "" {
			continue
		}
		if what := config.NeedsHost(); what != "" {
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
		if name := keepsSession(a); name != "" {
			report(callerPlace(p, a.Caller), `"`+name+`" of the agent `+a.Name)
		}
	}
}

// keepsSession returns a tool of an agent, or of its agents, that changes the session state; "" =
// none.
func keepsSession(p *engine.Program) string {
	if p.Memory.Backend != "none" {
		for i := range p.Tools {
			if p.Tools[i].Stateful {
				return p.Tools[i].Name
			}
		}
	}
	for _, a := range p.Agents {
		if name := keepsSession(a); name != "" {
			return name
		}
	}
	return ""
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
