package runtime_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

var ann, noon = engine.Actor{User: "ann", Host: "box"}, time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// decisionsAfterResume returns the decisions of a run, from a later session of another
// actor.
func decisionsAfterResume(t *testing.T, p *engine.Program, h engine.Host, j *journal.Memory) []engine.DecisionRecord {
	t.Helper()
	h.Responder = nil
	return session(t, p, h, j, runtime.Options{By: engine.Actor{User: "someone else"}, Follow: &runtime.Tail{}}).Decisions
}

func TestResultListsDecisionsWithActorAndTime(t *testing.T) {
	var rec tool.Record
	p, h := singleCallProgram(&recordingTool{}, `{"n":1}`, &rec)
	h.Responder = &answers{typed: []string{`edit:{"n":100}`, `edit:{"n":3}`}}
	j := &journal.Memory{}
	res := session(t, p, h, j, runtime.Options{By: ann, WallClock: func() time.Time { return noon }})
	asked := engine.DecisionRecord{
		At: noon, By: &ann, Path: "tool.0.approval", Kind: "approval", Tool: "gadget", Args: json.RawMessage(`{"n":1}`),
		Question: "May step s1 call gadget?", Do: "edit", Edit: json.RawMessage(`{"n":100}`),
	}
	again := asked
	again.Path, again.Edit = "tool.0.approval.2", json.RawMessage(`{"n":3}`)
	again.Question = res.Decisions[len(res.Decisions)-1].Question // contains the schema's error message
	if d := cmp.Diff([]engine.DecisionRecord{asked, again}, res.Decisions); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(res.Decisions, decisionsAfterResume(t, p, h, j)); d != "" {
		t.Error("later:", d)
	}
}

// A write that asks during its call waits for the answer.
func TestAnswerDuringAWriteIsRecorded(t *testing.T) {
	var recs []tool.Record
	one := funcTool{tool.WriteEffect, func(ctx context.Context, c *tool.Call) (*tool.Output, error) {
		d, err := c.Ask(ctx, interrupt.Question{Question: "Which account?", Args: json.RawMessage(`{"of":["a","b"]}`)})
		return &tool.Output{Text: d.Text}, err
	}}
	h := engine.Host{Tools: []tool.Binding{named("pay", one)}, Responder: &answers{typed: []string{"b"}}}
	p := program(map[string]nodeFunc{"a": callTool("pay", 1, false, &recs)})
	j := &journal.Memory{}
	res := session(t, p, h, j, runtime.Options{By: ann, WallClock: func() time.Time { return noon }})
	want := []engine.DecisionRecord{{
		At: noon, By: &ann, Path: "tool.0", Kind: "elicitation", Tool: "pay", Args: json.RawMessage(`{"of":["a","b"]}`),
		Question: "Which account?", Do: "text", Text: "b",
	}}
	if d := cmp.Diff(want, res.Decisions); d != "" || recs[0].Text() != "b" {
		t.Error(d, recs)
	}
	if d := cmp.Diff(want, decisionsAfterResume(t, p, h, j)); d != "" {
		t.Error("later:", d)
	}
	for i, r := range j.Records { // crash after the answer
		if r.Kind == journal.Answer {
			cut := &journal.Memory{Records: j.Records[:i+1]}
			h.Responder = nil
			res := session(t, p, h, cut, runtime.Options{})
			if d := cmp.Diff(want, res.Decisions); d != "" || res.StopReason.Code != stop.NeedsReview {
				t.Error(d, res.StopReason)
			}
			res = session(t, p, h, cut, runtime.Options{By: ann, WallClock: func() time.Time { return noon }, Resolve: map[string]string{"tool.0": `done:{"id":7}`}})
			want = append(want, engine.DecisionRecord{
				At: noon, By: &ann, Path: "tool.0", Kind: "needs_review", Tool: "pay", Args: json.RawMessage(`{"n":0}`),
				Do: "done", Result: json.RawMessage(`{"id":7}`),
			})
			if d := cmp.Diff(want, res.Decisions); d != "" || res.Status != stop.RunCompleted {
				t.Error(d, res.StopReason)
			}
		}
	}
}

// The time of an event includes the time for which the run waited for a decision, and is the
// same on every replay.
func TestEventsAfterADecisionHaveItsTime(t *testing.T) {
	var rec tool.Record
	p, h := singleCallProgram(&recordingTool{}, `{"n":1}`, &rec)
	j := &journal.Memory{}
	at := func(when time.Time, h engine.Host, o runtime.Options) []engine.Event {
		t.Helper()
		log := &eventLog{}
		h.Sinks = []engine.Sink{log}
		o.WallClock = func() time.Time { return when }
		session(t, p, h, j, o)
		return log.events
	}
	at(noon, h, runtime.Options{By: ann})
	answered := noon.Add(time.Hour)
	h.Responder = &answers{typed: []string{"approve"}}
	live := at(answered, h, runtime.Options{By: ann})
	completed := 0
	for _, ev := range live {
		if ev.Type == engine.ToolCompleted || ev.Type == engine.RunCompleted {
			completed++
			if ev.At.Before(answered) || ev.At.After(answered.Add(time.Minute)) {
				t.Errorf("%s at %s, answered at %s", ev.Type, ev.At, answered)
			}
		}
	}
	if completed == 0 {
		t.Fatal("the run did not continue")
	}
	h.Responder = nil
	again := at(noon.Add(2*time.Hour), h, runtime.Options{Follow: &runtime.Tail{}})
	times := func(events []engine.Event) map[int]time.Time {
		out := map[int]time.Time{}
		for _, ev := range events {
			if ev.Seq > 0 {
				out[ev.Seq] = ev.At
			}
		}
		return out
	}
	replayed := times(again)
	for seq, when := range times(live) {
		if !replayed[seq].Equal(when) {
			t.Errorf("event %d: %s, on replay %s", seq, when, replayed[seq])
		}
	}
}
