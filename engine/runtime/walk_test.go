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

// nodeFunc implements engine.Node with a function.
type nodeFunc func(engine.Scope) error

func (f nodeFunc) Run(s engine.Scope) error { return f(s) }

// plannerNode is an engine.Planner.
type plannerNode struct{ nodeFunc }

func (plannerNode) PlanRules() engine.PlanRules { return engine.PlanRules{} }

// finalizer is an engine.Finalizer that does not change answers.
type finalizer struct{ nodeFunc }

func (finalizer) FinalizeAnswer(s engine.Scope, _ string) error {
	if st := s.View().State; st.Answer == nil {
		s.Record(engine.Answered{Answer: engine.Answer{Text: st.LastOutput}})
	}
	return nil
}

// constantGuard is a condition with a fixed result.
type constantGuard bool

func (g constantGuard) Eval(map[string]any) (bool, error) { return bool(g), nil }
func (g constantGuard) String() string                    { return "says" }

// failingGuard is a condition that cannot be evaluated.
type failingGuard struct{}

func (failingGuard) Eval(map[string]any) (bool, error) { return false, errors.New("out of range") }
func (failingGuard) String() string                    { return "breaks" }

type edge = graph.Edge[engine.Condition]

func guarded(from, to string, g engine.Condition) edge {
	return edge{From: from, To: to, Label: g.String(), Guard: g}
}

// program returns a program with a graph of functions that starts at "a".
func program(nodes map[string]nodeFunc, edges ...edge) *engine.Program {
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
	return execute(context.Background(), p, in, h, runtime.Options{Virtual: true})
}

func nothing(engine.Scope) error { return nil }

// warn returns a node that adds a warning, to trace the walk.
func warn(text string) nodeFunc {
	return func(s engine.Scope) error {
		s.Record(engine.WarningAdded{Text: text})
		return nil
	}
}

func TestWalkEnds(t *testing.T) {
	internal := errors.New("a promise was broken")
	tests := []struct {
		name   string
		nodes  map[string]nodeFunc
		edges  []edge
		status stop.RunStatus
		code   stop.Code
		walked string
	}{
		{"at a node without edges", map[string]nodeFunc{"a": warn("a")}, nil, stop.RunCompleted, stop.Answered, "a"},
		{
			"at the end",
			map[string]nodeFunc{"a": warn("a"), "b": warn("b")},
			[]edge{{From: "a", To: "b"}, {From: "b", To: graph.End}},
			stop.RunCompleted, stop.Answered, "a b",
		},
		{
			"where no guard holds",
			map[string]nodeFunc{"a": warn("a"), "b": warn("b")},
			[]edge{guarded("a", "b", constantGuard(false))},
			stop.RunCompleted, stop.Answered, "a",
		},
		{
			"by the first edge whose guard holds",
			map[string]nodeFunc{"a": warn("a"), "b": warn("b"), "c": warn("c")},
			[]edge{guarded("a", "b", constantGuard(false)), guarded("a", "c", constantGuard(true)), {From: "a", To: "b"}},
			stop.RunCompleted, stop.Answered, "a c",
		},
		{
			"past an edge whose guard cannot be evaluated",
			map[string]nodeFunc{"a": warn("a"), "b": warn("b"), "c": warn("c")},
			[]edge{guarded("a", "b", failingGuard{}), {From: "a", To: "c"}},
			stop.RunCompleted, stop.Answered,
			"a edge a -> b: its condition cannot be evaluated: out of range c",
		},
		{"with a node's own error", map[string]nodeFunc{"a": func(engine.Scope) error { return internal }}, nil, stop.RunFailed, stop.Internal, ""},
		{
			"with a model that is not there", map[string]nodeFunc{"a": func(s engine.Scope) error {
				_, err := s.Model("model", model.Call{Role: "planner", LLM: "none"})
				return err
			}}, nil, stop.RunFailed, stop.Internal, "",
		},
		{
			"at the bound of a cycle that does nothing",
			map[string]nodeFunc{"a": nothing, "b": nothing},
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

func TestReplanRequestOfThePlannerVisitsItAgain(t *testing.T) {
	visits := 0
	p := program(map[string]nodeFunc{"a": nil})
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
