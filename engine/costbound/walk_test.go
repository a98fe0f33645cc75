package costbound_test

import (
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/costbound"
	"github.com/pexctl/pex/engine/graph"
)

// The nodes of the graphs. Each visit of a node with a Visit bound is a call.
var (
	one     = []engine.CallBound{{Role: "r", LLM: "m"}}
	asker   = boundedNode{Visit: one}
	planner = boundedNode{Plans: true}
	looker  = boundedNode{Visit: one, Plans: true, AfterMaxSteps: true}
	stepper = boundedNode{Starts: engine.StartsOne}
	worker  = boundedNode{Starts: engine.StartsOpen}
)

func TestVisitsFollowTheGraph(t *testing.T) {
	const (
		answered = `reply.result != ""`
		noneLeft = `len(plan.remaining) == 0`
	)
	type edge = graph.Edge[engine.Condition]
	tests := []struct {
		name  string
		nodes map[string]engine.Node
		start string
		edges []edge
		calls int // of 5 steps
	}{
		{"once without a circle", map[string]engine.Node{"a": asker, "b": asker}, "a", []edge{{From: "a", To: "b"}}, 2},
		{
			"a look after each step, the last of which ends",
			map[string]engine.Node{"p": planner, "w": worker, "l": looker},
			"p",
			[]edge{{From: "p", To: "end", Label: answered}, {From: "p", To: "w"}, {From: "w", To: "l"}, {From: "l", To: "end", Label: answered}, {From: "l", To: "w"}},
			5,
		},
		{
			"one that does not end at the last step",
			map[string]engine.Node{"s": stepper, "a": asker},
			"s",
			[]edge{{From: "s", To: "a"}, {From: "a", To: "s"}},
			6,
		},
		{
			"one before the first step too",
			map[string]engine.Node{"s": stepper, "a": asker},
			"a",
			[]edge{{From: "s", To: "a"}, {From: "a", To: "s"}},
			7,
		},
		{
			"a circle without steps",
			map[string]engine.Node{"a": asker, "b": boundedNode{}},
			"a",
			[]edge{{From: "a", To: "b"}, {From: "b", To: "a"}},
			engine.MaxVisits,
		},
		{
			"a worker that may find nothing to do",
			map[string]engine.Node{"p": planner, "w": worker, "a": asker},
			"p",
			[]edge{{From: "p", To: "end", Label: answered}, {From: "p", To: "w"}, {From: "w", To: "a"}, {From: "a", To: "w"}},
			engine.MaxVisits,
		},
		{
			"and one that goes elsewhere then",
			map[string]engine.Node{"p": planner, "w": worker, "a": asker},
			"p",
			[]edge{{From: "p", To: "end", Label: answered}, {From: "p", To: "w"}, {From: "w", To: "end", Label: noneLeft}, {From: "w", To: "a"}, {From: "a", To: "w"}},
			6,
		},
		{
			"answers that do not end the walk",
			map[string]engine.Node{"p": planner, "w": worker, "l": looker},
			"p",
			[]edge{{From: "p", To: "w"}, {From: "w", To: "l"}, {From: "l", To: "w"}},
			engine.MaxVisits,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := program()
			p.Nodes, p.Graph.Start, p.Graph.Edges = tt.nodes, tt.start, tt.edges
			for _, id := range []string{"a", "b", "l", "p", "s", "w"} {
				if tt.nodes[id] != nil {
					p.Graph.Nodes = append(p.Graph.Nodes, graph.Node{ID: id, Type: "fake"})
				}
			}
			if got := costbound.Bound(p, hundred).Total.Calls; got != (costbound.Count{Most: tt.calls}) {
				t.Errorf("%+v calls, not %d", got, tt.calls)
			}
		})
	}
}
