package runtime_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// traceLog is a Tracer that records events as text.
type traceLog struct{ lines []string }

func (w *traceLog) Trace(p *engine.Program, way runtime.TraceEvent) {
	switch x := way.(type) {
	case runtime.EdgeTaken:
		w.lines = append(w.lines, fmt.Sprintf("%s: %s -> %s", p.Name, x.From, x.To))
	case runtime.GuardEvaluated:
		w.lines = append(w.lines, fmt.Sprintf("%s: guard %d %v", p.Name, x.Index, x.Fired))
	case runtime.Requested:
		w.lines = append(w.lines, fmt.Sprintf("%s: %s asks", p.Name, x.Request.Role))
	case runtime.Recorded:
		if f, ok := x.Fact.(engine.WarningAdded); ok {
			w.lines = append(w.lines, fmt.Sprintf("%s: %s %s", p.Name, f.Text, f.Repair))
		}
	case runtime.Ended:
		w.lines = append(w.lines, fmt.Sprintf("%s: %s", p.Name, x.Reason.Code))
	}
}

// A Tracer receives the events of the run and its nested agents, and the same events on
// replay.
func TestTracerReceivesTheEventsOfARun(t *testing.T) {
	inner := program(map[string]nodeFunc{"a": warn("within")}, edge{From: "a", To: "end"})
	inner.Name = "inner"
	p := program(map[string]nodeFunc{
		"a": func(s engine.Scope) error {
			if _, err := s.Model("model", model.Call{Role: "planner", LLM: "main", Messages: []model.Message{{Role: model.User}}}); err != nil {
				return err
			}
			_, err := s.Agent("agent", inner, map[string]any{"question": "?"})
			return err
		},
		"b": func(s engine.Scope) error {
			s.Record(engine.WarningAdded{Text: "mended", Repair: engine.ReplyRepaired})
			v := s.View()
			_, err := s.Guards(engine.AfterPlan, v.Env)
			return err
		},
	}, edge{From: "a", To: "b"}, edge{From: "b", To: "end"})
	guard := func(i int, fires bool) engine.Guard {
		g := engine.Guard{Index: i, Name: "g", At: engine.AfterPlan, Do: engine.GuardDeny, When: component.GuardRef{Source: "x"}}
		g.When.Bind(func(map[string]any) (bool, error) { return fires, nil })
		return g
	}
	p.Guards = []engine.Guard{guard(0, false), guard(1, true), guard(2, true)}
	p.Models, p.Agents = []engine.ModelSpec{{Name: "main"}}, []*engine.Program{inner}
	h := engine.Host{Models: map[string]model.Model{"main": &echo{}}}
	h.Nested = func(*engine.Program, map[string]any) (engine.Host, error) { return engine.Host{}, nil }
	want := []string{
		"p: planner asks", "inner: within ", "inner: a -> end", "inner: answered", "p: a -> b",
		"p: mended reply_mended", "p: guard 0 false", "p: guard 1 true", "p: b -> end", "p: answered",
	}
	kept := &journal.Memory{RoundTrip: true}
	for _, name := range []string{"live", "again"} {
		w := &traceLog{}
		in := engine.Input{RunID: "r", Parameters: map[string]any{"question": "q"}}
		res := execute(t.Context(), p, in, h, runtime.Options{Virtual: true, Journal: kept, Tracer: w})
		if d := cmp.Diff(want, w.lines); d != "" || res.Status != stop.RunCompleted {
			t.Errorf("%s: %s %s", name, res.Status, d)
		}
	}
}

// notingTool is a tool that stores notes.
type notingTool struct{ recordingTool }

func (*notingTool) SessionPart() memory.SessionPart { return memory.NotesPart }

func TestWrappedToolDiffersOnlyInItsCall(t *testing.T) {
	given := func(context.Context, *tool.Call) (*tool.Output, error) {
		return &tool.Output{Text: "given"}, nil
	}
	for _, tt := range []struct {
		name  string
		tool  tool.Tool
		keeps bool
	}{{"a tool", &recordingTool{}, false}, {"a session keeper", &notingTool{}, true}} {
		t.Run(tt.name, func(t *testing.T) {
			cast := tool.Wrap(tt.tool, given)
			out, err := cast.Call(t.Context(), &tool.Call{})
			if err != nil || out.Text != "given" || cast.Info().Name != "gadget" {
				t.Errorf("%+v, %v, %+v", out, err, cast.Info())
			}
			if _, keeps := cast.(tool.SessionKeeper); keeps != tt.keeps {
				t.Errorf("keeps %v", keeps)
			}
		})
	}
}

// A PathRecorder records the transitions between nodes: edges, and jumps for a new plan. A
// walk that ends at a node without edges has no transition to the end.
func TestPathRecorderRecordsThePath(t *testing.T) {
	visits := 0
	planner := func(engine.Scope) error { visits++; return nil }
	replan := func(engine.Scope) error {
		if visits == 1 {
			return engine.ErrReplan
		}
		return nil
	}
	for _, tt := range []struct {
		name  string
		edges []edge
		want  []graph.EdgeCount
	}{
		{"to an edge to the end", []edge{{From: "a", To: "b"}, {From: "b", To: graph.End}}, []graph.EdgeCount{
			{From: "a", To: "b", Count: 2}, {From: "b", To: "a", Jump: true, Count: 1}, {From: "b", To: graph.End, Count: 1},
		}},
		{"to a node without an edge", []edge{{From: "a", To: "b"}}, []graph.EdgeCount{
			{From: "a", To: "b", Count: 2}, {From: "b", To: "a", Jump: true, Count: 1},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			visits = 0
			p := program(map[string]nodeFunc{"a": planner, "b": replan}, tt.edges...)
			p.Nodes["a"] = plannerNode{planner}
			w := &runtime.PathRecorder{}
			in := engine.Input{RunID: "r", Parameters: map[string]any{"question": "q"}}
			res := execute(t.Context(), p, in, engine.Host{}, runtime.Options{Virtual: true, Tracer: w})
			got := w.Path(res)
			want := &graph.Path{Visits: map[string]int{"a": 2, "b": 2, graph.End: 1}, Edges: tt.want, At: graph.End, Status: "completed", Reason: "answered"}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// The status of a path does not repeat itself.
func TestAPathSaysOnceThatItWaits(t *testing.T) {
	for _, tt := range []struct {
		reason stop.Reason
		want   string
	}{
		{stop.Reason{Code: stop.Interrupted}, "interrupted"},
		{stop.Reason{Code: stop.Interrupted, Path: "tools.refund.approval"}, "tools.refund.approval"},
		{stop.Reason{Code: stop.NeedsReview, Path: "step.s1"}, "needs_review (step.s1)"},
	} {
		w := &runtime.PathRecorder{}
		got := w.Path(&engine.Result{Status: stop.RunInterrupted, StopReason: tt.reason})
		if got.Reason != tt.want {
			t.Errorf("%v: %q", tt.reason, got.Reason)
		}
	}
}
