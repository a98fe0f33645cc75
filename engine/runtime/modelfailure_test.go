package runtime_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/engine/runtime"
)

// A model call that fails has an event of its end, which is the same however often the run was
// killed.
func TestFailedModelCallsHaveEvents(t *testing.T) {
	p := program(map[string]nodeFunc{"a": asks(1, 2)})
	p.Limits.MaxTokens = 100_000
	p.Models = []engine.ModelSpec{{Name: "main", Fallback: []string{"other"}, Retry: retry.Policy{MaxAttempts: 2}}, {Name: "other"}}
	limited := model.Error{Kind: model.RateLimited, Status: 429, Message: "slow down", Attempts: 2}
	host := func() (engine.Host, *replayLog) {
		log := &replayLog{}
		main := answeringModel(func(req *model.Request) (*model.Reply, error) {
			if req.PriorAttempts == 0 {
				return nil, fails(model.Truncated)
			}
			return nil, &limited
		})
		return engine.Host{Models: map[string]model.Model{"main": main, "other": &failingModel{}}, Sinks: []engine.Sink{log}}, log
	}
	lines := func(log *replayLog) (out []string) {
		for _, ev := range log.of(engine.ModelCompleted) {
			out = append(out, fmt.Sprintf("%d %s %s %+v", ev.Seq, ev.Path, ev.Status, ev.Error))
		}
		return out
	}
	h, log := host()
	j := &journal.Memory{RoundTrip: true}
	session(t, p, h, j, runtime.Options{Virtual: true})
	want := []string{
		"4 b0/model.0 failed &{Kind:truncated Message:no Status:0 Attempts:1 Charged:true}",
		"6 b0/model.0.again.1 failed &{Kind:rate_limit Message:slow down Status:429 Attempts:2 Charged:false}",
		"9 b0/model.0.fallback.1 end_turn <nil>",
	}
	if got := lines(log); len(got) != 6 || !cmp.Equal(got[:3], want) {
		t.Fatalf("%q", got)
	}
	for cut := range j.Records {
		if k := j.Records[max(0, cut-1)].Kind; cut == 0 || k == journal.Intent {
			continue // the outcome of the call is unknown then, so it is repeated
		}
		h, again := host()
		session(t, p, h, &journal.Memory{RoundTrip: true, Records: slices.Clone(j.Records[:cut])}, runtime.Options{Virtual: true})
		if d := cmp.Diff(lines(log), lines(again)); d != "" {
			t.Errorf("killed after record %d: %s", cut, d)
		}
	}
}

// A call whose session ended before the reply was stored ends with an event, too.
func TestLostModelCallsHaveEvents(t *testing.T) {
	p := program(map[string]nodeFunc{"a": asks(1, 1)})
	p.Limits.MaxTokens = 100_000
	p.Models = []engine.ModelSpec{{Name: "main"}}
	j, log := &journal.Memory{RoundTrip: true}, &replayLog{}
	h := engine.Host{Models: map[string]model.Model{"main": &failingModel{}}, Sinks: []engine.Sink{log}}
	session(t, p, h, j, runtime.Options{})
	i := slices.IndexFunc(j.Records, func(r journal.Record) bool { return r.Kind == journal.Intent })
	log.events = nil
	session(t, p, h, &journal.Memory{RoundTrip: true, Records: slices.Clone(j.Records[:i+1])}, runtime.Options{})
	done := log.of(engine.ModelCompleted)
	if len(done) != 2 || done[0].Error == nil || done[0].Error.Kind != "unknown" || !done[0].Error.Charged || done[1].Path != "b0/model.0.again.1" || done[1].Error != nil {
		t.Errorf("%+v", done)
	}
}

// answeringModel is a model as a function.
type answeringModel func(req *model.Request) (*model.Reply, error)

func (f answeringModel) Generate(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	return f(req)
}
