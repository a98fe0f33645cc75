package coverage_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/eval/coverage"
)

type planner struct{ engine.Node }

func (planner) PlanRules() engine.PlanRules { return engine.PlanRules{} }

func program() *engine.Program {
	return &engine.Program{
		Nodes: map[string]engine.Node{"planner": planner{}},
		Graph: &graph.Graph[engine.Condition]{
			Start: "planner",
			Nodes: []graph.Node{{ID: "planner", Type: "planner"}, {ID: "executor", Type: "executor"}},
			Edges: []graph.Edge[engine.Condition]{
				{From: "planner", To: "end", Label: "x"},
				{From: "planner", To: "executor"},
				{From: "executor", To: "end", Label: "a"},
				{From: "executor", To: "end"},
			},
		},
		Guards: []engine.Guard{{Index: 0, Name: "never delete"}, {Index: 1}},
		Limits: engine.Limits{MaxTokens: 10},
		Models: []engine.ModelSpec{{Name: "main", Fallback: []string{"other"}}},
	}
}

// tools are the tools of the program's runs.
var tools = []string{"search", "write"}

func names(items []coverage.Item, kind coverage.Kind) []string {
	var out []string
	for _, it := range items {
		if it.Kind == kind {
			out = append(out, it.Name)
		}
	}
	return out
}

// Without runs, every item is listed once.
func TestEmptyMapListsAllItems(t *testing.T) {
	never := coverage.New("spec", program(), tools).Report().Uncovered()
	for kind, want := range map[coverage.Kind][]string{
		coverage.Edges:  {"planner -> end", "planner -> executor", "executor -> end (a)", "executor -> end (else)"},
		coverage.Guards: {"never delete", "guards[1]"},
		coverage.Tools:  {"search", "write"},
		coverage.Faults: {"search", "write"},
		coverage.Stops:  {"answered", "planner_invalid", "refused", "provider_error", "budget_tokens", "guard"},
		coverage.Paths: {
			"reply_mended", "planner_reasked", "executor_reasked", "replanned", "step_failed", "step_limit",
			"answered_without_steps", "fallback",
		},
	} {
		if d := cmp.Diff(want, names(never, kind)); d != "" {
			t.Errorf("%s: %s", kind, d)
		}
	}
}

func TestTraceEventsFillMap(t *testing.T) {
	recorded := func(f engine.Fact) runtime.TraceEvent { return runtime.Recorded{Fact: f} }
	called := func(one string, status tool.CallStatus) runtime.TraceEvent {
		return recorded(engine.ToolCalled{Record: tool.Record{Tool: one, Status: status}})
	}
	for _, tt := range []struct {
		name string
		way  runtime.TraceEvent
		kind coverage.Kind
		hit  []string
	}{
		{"an edge", runtime.EdgeTaken{From: "planner", To: "executor"}, coverage.Edges, []string{"planner -> executor"}},
		{"one of two with the same ends", runtime.EdgeTaken{From: "executor", To: "end", When: "a"}, coverage.Edges, []string{"executor -> end (a)"}},
		{"the other", runtime.EdgeTaken{From: "executor", To: "end"}, coverage.Edges, []string{"executor -> end (else)"}},
		{"an edge of another graph", runtime.EdgeTaken{From: "x", To: "y"}, coverage.Edges, nil},
		{"a guard that fires", runtime.GuardEvaluated{Index: 1, Fired: true}, coverage.Guards, []string{"guards[1]"}},
		{"a guard that is only tried", runtime.GuardEvaluated{Index: 1}, coverage.Guards, nil},
		{"a tool", called("search", tool.CallOK), coverage.Tools, []string{"search"}},
		{"a tool that works has no fault", called("search", tool.CallOK), coverage.Faults, nil},
		{"a tool that fails", called("write", tool.CallDenied), coverage.Faults, []string{"write"}},
		{"a tool that there is not", called("fly", tool.CallError), coverage.Tools, nil},
		{"an end", runtime.Ended{Reason: stop.Reason{Code: stop.Guard}}, coverage.Stops, []string{"guard"}},
		{"a failed step", recorded(engine.StepEnded{Record: plan.StepRecord{Status: plan.Timeout}}), coverage.Paths, []string{"step_failed"}},
		{"a step at its limit", recorded(engine.StepEnded{Record: plan.StepRecord{Status: plan.Loop}}), coverage.Paths, []string{"step_limit"}},
		{"a step that is ok", recorded(engine.StepEnded{Record: plan.StepRecord{Status: plan.OK}}), coverage.Paths, nil},
		{"a replan", recorded(engine.PlanAccepted{Replan: true}), coverage.Paths, []string{"replanned"}},
		{"a plan", recorded(engine.PlanAccepted{}), coverage.Paths, nil},
		{"a repair", recorded(engine.WarningAdded{Repair: engine.FellBack}), coverage.Paths, []string{"fallback"}},
		{"a warning", recorded(engine.WarningAdded{Text: "careful"}), coverage.Paths, nil},
		{"an answer at once", recorded(engine.NodeReplied{By: "planner", Reply: exprenv.Reply{Result: "42"}}), coverage.Paths, []string{"answered_without_steps"}},
		{"an answer of another", recorded(engine.NodeReplied{By: "reflector", Reply: exprenv.Reply{Result: "42"}}), coverage.Paths, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := program()
			m := coverage.New("spec", p, tools)
			m.Trace(p, tt.way)
			m.Trace(program(), runtime.EdgeTaken{From: "planner", To: "end"}) // of a sub-agent
			var hit []string
			for _, it := range m.Report().Items {
				if it.Kind == tt.kind && it.Hits > 0 {
					hit = append(hit, it.Name)
				}
			}
			if d := cmp.Diff(tt.hit, hit); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestSharesAndJoins(t *testing.T) {
	p, q := program(), program()
	a, b, c := coverage.New("spec", p, tools), coverage.New("spec", q, tools[:1]), coverage.New("other", p, tools)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { a.Trace(p, runtime.EdgeTaken{From: "planner", To: "end"}) })
	}
	all.Wait()
	b.Trace(q, runtime.EdgeTaken{From: "planner", To: "end"})
	b.Trace(q, runtime.GuardEvaluated{Index: 0})
	got := coverage.Join([]coverage.Report{a.Report(), c.Report(), b.Report()})
	if len(got) != 2 || got[0].Spec != "spec" || got[1].Spec != "other" {
		t.Fatalf("%+v", got)
	}
	r := got[0]
	if r.All != a.Report().All || r.Hit != 1 || r.Share != 1/float64(r.All) {
		t.Errorf("%d of %d, %v", r.Hit, r.All, r.Share)
	}
	if r.Items[0].Hits != 5 || len(names(r.Items, coverage.Tools)) != 2 {
		t.Errorf("%+v", r.Items)
	}
	if i := r.Items[4]; i.Name != "never delete" || i.Evaluations != 1 {
		t.Errorf("%+v", i)
	}
}
