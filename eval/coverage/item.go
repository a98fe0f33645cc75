package coverage

import (
	"fmt"
	"slices"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/stop"
)

// Kind is a kind of item that tests can cover.
type Kind string

// The kinds, in the order of reports.
const (
	Edges  Kind = "edges"       // of the graph
	Guards Kind = "guards"      // that fired
	Tools  Kind = "tools"       // that were called
	Faults Kind = "tool faults" // tools whose call failed
	Stops  Kind = "stop reasons"
	Paths  Kind = "ways out" // repairs, failed steps, replans
)

// Kinds returns the kinds in the order of reports.
func Kinds() []Kind { return []Kind{Edges, Guards, Tools, Faults, Stops, Paths} }

// Item is something that tests can cover.
type Item struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
	Hits int    `json:"hits"`
	// Evaluations counts the evaluations of a guard, fired or not.
	Evaluations int `json:"tried,omitempty"`
}

type key struct {
	kind Kind
	name string
}

// items returns everything that runs of a program with these tools can cover.
func items(p *engine.Program, tools []string) []key {
	var out []key
	add := func(k Kind, name string) { out = append(out, key{k, name}) }
	for _, n := range p.Graph.Nodes {
		for _, e := range p.Graph.From(n.ID) {
			if id := edge(p, n.ID, e.To, e.Label); !slices.Contains(out, key{Edges, id}) {
				add(Edges, id)
			}
		}
	}
	for i := range p.Guards {
		add(Guards, guard(&p.Guards[i]))
	}
	for _, name := range tools {
		add(Tools, name)
	}
	for _, name := range tools {
		add(Faults, name)
	}
	for _, code := range stops(p) {
		add(Stops, string(code))
	}
	for _, way := range paths(p) {
		add(Paths, way)
	}
	return out
}

// edge returns the name of an edge: its ends, and its label if there are parallel edges.
func edge(p *engine.Program, from, to, label string) string {
	name := from + " -> " + to
	parallel := 0
	for _, e := range p.Graph.From(from) {
		if e.To == to {
			parallel++
		}
	}
	switch {
	case parallel < 2:
		return name
	case label == "":
		return name + " (else)"
	}
	return name + " (" + label + ")"
}

func guard(g *engine.Guard) string {
	if g.Name != "" {
		return g.Name
	}
	return fmt.Sprintf("guards[%d]", g.Index)
}

// stops returns the stop reasons that runs of the program can end with, except for failures of the machine.
func stops(p *engine.Program) []stop.Code {
	out := []stop.Code{stop.Answered, stop.PlannerInvalid, stop.Refused, stop.ProviderError}
	l := p.Limits
	for _, limit := range []struct {
		set  bool
		code stop.Code
	}{
		{l.MaxSteps > 0, stop.MaxSteps},
		{l.MaxReplans > 0, stop.MaxReplans},
		{l.MaxToolCalls > 0, stop.MaxToolCalls},
		{l.MaxTokens > 0, stop.BudgetTokens},
		{l.MaxCost > 0, stop.BudgetCost},
		{l.MaxDuration > 0, stop.Deadline},
		{len(p.Guards) > 0, stop.Guard},
		{p.Output != nil, stop.OutputInvalid},
	} {
		if limit.set {
			out = append(out, limit.code)
		}
	}
	return out
}

// The paths that are not repairs by the engine.
const (
	stepFailed       = "step_failed"
	stepLimit        = "step_limit"
	replanned        = "replanned"
	answeredDirectly = "answered_without_steps"
)

// paths returns the recovery paths that runs of the program can take.
func paths(p *engine.Program) []string {
	out := []string{
		string(engine.ReplyRepaired), string(engine.PlannerRetried), string(engine.ExecutorRetried),
		replanned, stepFailed, stepLimit, answeredDirectly,
	}
	if p.Output != nil {
		out = append(out, string(engine.FinalizerRetried))
	}
	for i := range p.Models {
		if len(p.Models[i].Fallback) > 0 {
			return append(out, string(engine.FellBack))
		}
	}
	return out
}
