package analysis

import (
	"slices"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/engine"
)

// AgentCalls finds calls of other specs that always fail: a required parameter is
// missing, or the other spec has no such parameter.
var AgentCalls = dsl.Analyzer{Name: "agent_calls", Codes: []diag.Code{diag.MissingKey, diag.NoEffect}, Run: func(p *dsl.Pass) {
	for _, n := range parts(p) {
		e, ok := n.entry("agent")
		if !ok || n.typ != language.Executor && n.typ != "agent" {
			continue
		}
		called := agentOf(p, e.Value)
		if called == nil {
			continue
		}
		given := []string{question}
		if n.typ == "agent" {
			given = append(given, parametersOf(p, n, called)...)
		}
		for _, q := range called.Parameters {
			if !q.Required || q.Default != nil || slices.Contains(given, q.Name) {
				continue
			}
			d := p.Error(diag.MissingKey, e.Place, "the call of the agent %q does not set its required parameter %q", called.Name, q.Name)
			if d.Hint = "write parameters: {" + q.Name + ": ...} next to it"; n.typ == language.Executor {
				d.Hint = "a step passes only its goal, as question; give " + q.Name + " a default in the agent"
			}
		}
	}
}}

// parametersOf returns the names of the parameters that an agent node passes. It
// reports those that the agent does not have.
func parametersOf(p *dsl.Pass, n part, called *engine.Program) []string {
	var given, there []string
	for _, q := range called.Parameters {
		there = append(there, q.Name)
	}
	e, _ := n.entry("parameters")
	for _, one := range e.Value.Entries() {
		if given = append(given, one.Key); slices.Contains(there, one.Key) {
			continue
		}
		d := p.Warn(diag.NoEffect, one.Place, "%s has no effect: the agent %q has no such parameter", one.Key, called.Name)
		if near := diag.Nearest(one.Key, there); near != "" {
			d.Advice = diag.DidYouMean(one.Key, near, "")
		}
	}
	return given
}

// agentOf returns the program of the spec that a value names, or nil if it is not
// found.
func agentOf(p *dsl.Pass, v dsl.Value) *engine.Program {
	file := agentFile(v)
	i := slices.IndexFunc(p.Program.Agents, func(a *engine.Program) bool { return a.File == file })
	if i < 0 {
		return nil
	}
	return p.Program.Agents[i]
}
