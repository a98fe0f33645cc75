package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/graph"
)

type (
	executor struct{ engine.Node }
	planner  struct{ engine.Node }
	reviewer struct{ engine.Node }
)

func (planner) PlanRules() engine.PlanRules        { return engine.PlanRules{} }
func (reviewer) ReviewPrompt() component.PromptRef { return component.PromptRef{} }

// A node is written as its type and a number: p1 plans, x1 executes, r1 reflects.
func TestReplannerIsTheNearestReviewerOrPlanner(t *testing.T) {
	tests := []struct {
		name          string
		edges         string
		from, planner string
		want          string // result of Replanner
		may           string // result of Replanners
	}{
		{"the reflector behind it", "p1>x1 x1>r1 r1>x1", "x1", "p1", "r1", "r1"},
		{"the planner without a reviewer", "p1>x1", "x1", "p1", "p1", "p1"},
		{"the nearest of two reflectors", "p1>r1 r1>x1 x1>r2", "x1", "p1", "r2", "r2"},
		{"the only reflector, wherever it is", "p1>r1 r1>x1", "x1", "p1", "r1", "r1"},
		{"the first of two planners", "p1>x1 x1>p2 p2>x2", "x1", "p1", "p1", "p1 p2"},
		{"the second of two planners", "p1>x1 x1>p2 p2>x2", "x2", "p2", "p2", "p1 p2"},
		{"the planner before a reflector of another plan", "p1>x1 x1>p2 p2>x2 x2>r1", "x1", "p1", "p1", "p1 p2"},
		{"the reflector of the second plan", "p1>x1 x1>p2 p2>x2 x2>r1", "x2", "p2", "r1", "r1"},
		{"a reflector that both plans share", "p1>x1 x1>r1 x1>p2 p2>x2 x2>r1", "x1", "p1", "r1", "r1"},
		{"the first planner before any plan", "x1>p1 p1>x2 x2>p2", "x1", "", "p1", "p1 p2"},
		{"none", "x1>x2", "x1", "", "", ""},
	}
	kinds := map[byte]engine.Node{'p': planner{}, 'x': executor{}, 'r': reviewer{}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := &graph.Graph[engine.Condition]{}
			p := &engine.Program{Graph: g, Nodes: map[string]engine.Node{}}
			for e := range strings.FieldsSeq(tt.edges) {
				from, to, _ := strings.Cut(e, ">")
				for _, id := range []string{from, to} {
					if !g.Has(id) {
						g.Nodes = append(g.Nodes, graph.Node{ID: id})
						p.Nodes[id] = kinds[id[0]]
					}
				}
				g.Edges = append(g.Edges, graph.Edge[engine.Condition]{From: from, To: to})
			}
			if got := p.Replanner(tt.from, tt.planner); got != tt.want {
				t.Errorf("Replanner: %q, want %q", got, tt.want)
			}
			may := p.Replanners(tt.from)
			slices.Sort(may)
			if got := strings.Join(may, " "); got != tt.may {
				t.Errorf("Replanners: %q, want %q", got, tt.may)
			}
		})
	}
}
