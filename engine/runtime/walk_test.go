package runtime_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
)

// does is a node that is a function.
type does func(engine.Scope) error

func (f does) Run(s engine.Scope) error { return f(s) }

// plannerNode makes plans.
type plannerNode struct{ does }

func (plannerNode) PlanRules() engine.PlanRules { return engine.PlanRules{} }

// finalizer writes answers; the runtime keeps those of nodes.
type finalizer struct{ does }

func (finalizer) FinalizeAnswer(s engine.Scope, _ string) error {
	if st := s.View().State; st.Answer == nil {
		s.Record(engine.Answered{Answer: engine.Answer{Text: st.LastOutput}})
	}
	return nil
}

// says is a guard that always says the same.
type says bool

func (g says) Eval(map[string]any) (bool, error) { return bool(g), nil }
func (g says) String() string                    { return "says" }

// breaks is a guard that cannot be evaluated.
type breaks struct{}

func (breaks) Eval(map[string]any) (bool, error) { return false, errors.New("out of range") }
func (breaks) String() string                    { return "breaks" }

type edge = graph.Edge[engine.Condition]

func guarded(from, to string, g engine.Condition) edge {
	return edge{From: from, To: to, Label: g.String(), Guard: g}
}

// program is a graph of functions that starts at "a".
func program(nodes map[string]does, edges ...edge) *engine.Program {
	p := &engine.Program{
		Name: "p", Digest: "sha256:p", Nodes: map[string]engine.Node{},
		Graph:  &graph.Graph[engine.Condition]{Start: "a", Edges: edges},
		Limits: engine.Limits{MaxSteps: 20, MaxReplans: 10},
		Memory: engine.MemorySettings{Backend: "none"},
	}
	for id, n := range nodes {
		p.Nodes[id] = n
		p.Graph.Nodes = append(p.Graph.Nodes, graph.Node{ID: id, Type: "test"})
	}
	return p
}

func runs(p *engine.Program, h engine.Host) *engine.Result {
	in := engine.Input{RunID: "r", Parameters: map[string]any{"question": "q"}}
	return runtime.Run(context.Background(), p, in, h, runtime.Options{Virtual: true})
}

func nothing(engine.Scope) error { return nil }

// note leaves a trace of the walk: a warning.
func note(text string) does {
	return func(s engine.Scope) error {
		s.Record(engine.WarningAdded{Text: text})
		return nil
	}
}

func TestWalkEnds(t *testing.T) {
	internal := errors.New("a promise was broken")
	tests := []struct {
		name   string
		nodes  map[string]does
		edges  []edge
		status stop.RunStatus
		code   stop.Code
		walked string
	}{
		{"at a node without edges", map[string]does{"a": note("a")}, nil, stop.RunCompleted, stop.Answered, "a"},
		{
			"at the end",
			map[string]does{"a": note("a"), "b": note("b")},
			[]edge{{From: "a", To: "b"}, {From: "b", To: graph.End}},
			stop.RunCompleted, stop.Answered, "a b",
		},
		{
			"where no guard holds",
			map[string]does{"a": note("a"), "b": note("b")},
			[]edge{guarded("a", "b", says(false))},
			stop.RunCompleted, stop.Answered, "a",
		},
		{
			"by the first edge whose guard holds",
			map[string]does{"a": note("a"), "b": note("b"), "c": note("c")},
			[]edge{guarded("a", "b", says(false)), guarded("a", "c", says(true)), {From: "a", To: "b"}},
			stop.RunCompleted, stop.Answered, "a c",
		},
		{
			"past an edge whose guard cannot be evaluated",
			map[string]does{"a": note("a"), "b": note("b"), "c": note("c")},
			[]edge{guarded("a", "b", breaks{}), {From: "a", To: "c"}},
			stop.RunCompleted, stop.Answered,
			"a edge a -> b: its condition cannot be evaluated: out of range c",
		},
		{"with a node's own error", map[string]does{"a": func(engine.Scope) error { return internal }}, nil, stop.RunFailed, stop.Internal, ""},
		{
			"with a model that is not there", map[string]does{"a": func(s engine.Scope) error {
				_, err := s.Model("model", model.Call{Role: "planner", LLM: "none"})
				return err
			}}, nil, stop.RunFailed, stop.Internal, "",
		},
		{
			"at the bound of a cycle that does nothing",
			map[string]does{"a": nothing, "b": nothing},
			[]edge{{From: "a", To: "b"}, {From: "b", To: "a"}},
			stop.RunStopped, stop.Loop, "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := runs(program(tt.nodes, tt.edges...), engine.Host{})
			if res.Status != tt.status || res.StopReason.Code != tt.code || strings.Join(res.Warnings, " ") != tt.walked {
				t.Errorf("%s %+v after %q", res.Status, res.StopReason, res.Warnings)
			}
		})
	}
}

func TestReplanWithoutPlannerEndsNothing(t *testing.T) {
	visits := 0
	p := program(map[string]does{"a": nil})
	p.Nodes["a"] = plannerNode{func(engine.Scope) error {
		if visits++; visits > 1 {
			return nil
		}
		return engine.ErrReplan
	}}
	if res := runs(p, engine.Host{}); res.Status != stop.RunCompleted || visits != 2 {
		t.Errorf("%s after %d visits", res.Status, visits)
	}
}
