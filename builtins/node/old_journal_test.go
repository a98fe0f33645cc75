package node_test

import (
	"context"
	"testing"

	"github.com/pexctl/pex/builtins/node"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
)

// TestFinalReportCheckIsSkippedOnOldJournals: a run that ended before executor reports
// were checked against the output replays to its end. Cut earlier, it continues with the
// check.
func TestFinalReportCheckIsSkippedOnOldJournals(t *testing.T) {
	p, host := loneProgram(t), perHost(3)
	whole := &journal.Memory{RoundTrip: true}
	if res := runtime.Run(context.Background(), p, perInput, host, runtime.Options{Journal: whole, Virtual: true}); res.Status != stop.RunCompleted {
		t.Fatal(res.StopReason)
	}
	never := component.GuardRef{Source: "false"}
	never.Bind(func(map[string]any) (bool, error) { return false, nil })
	p.Output = &engine.Output{Ensures: []component.GuardRef{never}, MaxAttempts: 2}
	for n := 1; n <= len(whole.Records); n++ {
		j := &journal.Memory{RoundTrip: true, Records: append([]journal.Record(nil), whole.Records[:n]...)}
		res := runtime.Run(context.Background(), p, perInput, host, runtime.Options{Journal: j, Virtual: true})
		calls := 4 // one with a tool, and three reports
		if n == len(whole.Records) {
			calls = 2
		}
		if res.StopReason.Code != stop.OutputInvalid || res.Usage.ModelCalls != calls {
			t.Errorf("cut after record %d of %d: %d model calls, want %d: %v", n, len(whole.Records), res.Usage.ModelCalls, calls, res.StopReason)
		}
	}
}

// loneProgram returns a graph with one executor and the end node.
func loneProgram(t *testing.T) *engine.Program {
	t.Helper()
	p := perProgram(t)
	p.Graph = &graph.Graph[engine.Condition]{
		Start: "executor",
		Nodes: []graph.Node{{ID: "executor", Type: "executor"}},
		Edges: []graph.Edge[engine.Condition]{{From: "executor", To: graph.End}},
	}
	f, err := node.Finalizer.Build(node.Finalizer.Config(), engine.NodeSettings{ID: "finalizer"})
	if err != nil {
		t.Fatal(err)
	}
	p.Nodes = map[string]engine.Node{"executor": p.Nodes["executor"], "finalizer": f}
	return p
}
