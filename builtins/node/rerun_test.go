package node_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

var perInput = engine.Input{RunID: "r", Parameters: map[string]any{"question": "Add up the items."}}

// ignoreTimes ignores clock values when comparing results.
var ignoreTimes = cmp.Options{
	cmpopts.IgnoreUnexported(plan.StepRecord{}, tool.Record{}),
	cmpopts.IgnoreFields(engine.Result{}, "StartedAt", "DurationMS"),
}

// TestRunResumesIdenticallyFromAnyRecord cuts a run's journal after each record and
// resumes it: the result is the same, and no completed effect is performed again.
func TestRunResumesIdenticallyFromAnyRecord(t *testing.T) {
	p := perProgram(t)
	whole := &journal.Memory{RoundTrip: true}
	want := runtime.Run(context.Background(), p, perInput, perHost(3), runtime.Options{Journal: whole, Virtual: true})
	if want.Status != stop.RunCompleted {
		t.Fatal(want.StopReason)
	}
	for n := range len(whole.Records) + 1 {
		done := map[string]bool{}
		for _, r := range whole.Records[:n] {
			if r.Kind == journal.Result {
				done[r.Path] = true
			}
		}
		j := &journal.Memory{RoundTrip: true, Records: append([]journal.Record(nil), whole.Records[:n]...)}
		counted := &countingModel{perModel: perModel{3}}
		host := perHost(3)
		host.Models["main"] = counted
		got := runtime.Run(context.Background(), p, perInput, host, runtime.Options{Journal: j, Virtual: true})
		if diff := cmp.Diff(want, got, ignoreTimes); diff != "" {
			t.Fatalf("cut after record %d of %d: (-want +got)\n%s", n, len(whole.Records), diff)
		}
		for _, key := range counted.keys {
			if done[strings.TrimPrefix(key, "r/")] {
				t.Fatalf("cut after record %d: %s was done and was performed again", n, key)
			}
		}
	}
}

// TestFreshRunsInVirtualTimeWriteTheSameJournal compares the journals of two fresh runs
// byte by byte.
func TestFreshRunsInVirtualTimeWriteTheSameJournal(t *testing.T) {
	p := perProgram(t)
	lines := func() []string {
		j := &journal.Memory{RoundTrip: true}
		runtime.Run(context.Background(), p, perInput, perHost(3), runtime.Options{Journal: j, Virtual: true})
		var out []string
		for _, r := range j.Records[1:] { // the start record holds the wall time
			out = append(out, r.Path+" "+string(r.Body))
		}
		return out
	}
	if diff := cmp.Diff(lines(), lines()); diff != "" {
		t.Error(diff)
	}
}

// countingModel records the effect path of every call it performs.
type countingModel struct {
	perModel
	keys []string
}

func (m *countingModel) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	m.keys = append(m.keys, req.Key)
	return m.perModel.Generate(ctx, req, stream)
}
