package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// A delta that arrives during the commit of its model.started waits for that event, and
// so for the tool.completed before it.
func TestDeltaFollowsTheStartOfItsCall(t *testing.T) {
	events := &eventLog{}
	e := runtime.NewEmitter(events)
	completed, started := e.Next(false), e.Next(false)
	e.Transient(started, engine.Event{Type: engine.ModelDelta, Text: "a"})
	e.Send(engine.Event{Seq: completed, Type: engine.ToolCompleted})
	e.Transient(started, engine.Event{Type: engine.ModelDelta, Text: "b"})
	e.Send(engine.Event{Seq: started, Type: engine.ModelStarted})
	e.Transient(started, engine.Event{Type: engine.ModelDelta, Text: "c"})
	var got []string
	for _, ev := range events.events {
		got = append(got, string(ev.Type)+ev.Text)
	}
	if diff := cmp.Diff([]string{"tool.completed", "model.started", "model.deltaa", "model.deltab", "model.deltac"}, got); diff != "" {
		t.Error(diff)
	}
}

// A call whose model.started was sent by an earlier session streams at once.
func TestDeltaOfAnAnnouncedCallIsSentAtOnce(t *testing.T) {
	events := &eventLog{}
	e := runtime.NewEmitter(events)
	e.Transient(e.Next(true), engine.Event{Type: engine.ModelDelta})
	if n := len(events.events); n != 1 {
		t.Errorf("%d events were sent", n)
	}
}

// All sessions of a run share one numbering of events, and so do followers of its journal.
func TestEventNumbersContinueAcrossSessions(t *testing.T) {
	j, recs, live := &journal.Memory{RoundTrip: true}, []tool.Record{}, &eventLog{}
	one := newQuestionTool(tool.ReadEffect, fixedQuestions("Which?"))
	p := program(map[string]nodeFunc{"a": callTool("x", 1, false, &recs)})
	h := engine.Host{Tools: []tool.Binding{named("x", one)}, Sinks: []engine.Sink{live}}
	res := session(t, p, h, j, runtime.Options{})
	session(t, p, h, j, runtime.Options{Answers: map[string]json.RawMessage{res.Interrupts[0].Path: encodeAnswer(t, "this")}})
	var got []string
	seq := 0
	for _, ev := range live.events {
		got = append(got, numbered(ev))
		if ev.Seq != 0 {
			if seq++; ev.Seq != seq {
				t.Errorf("event %s has number %d, want %d", ev.Type, ev.Seq, seq)
			}
		}
	}
	if last := live.events[len(live.events)-1]; last.Type != engine.RunCompleted {
		t.Errorf("the last event is %s", last.Type)
	}
	suspended := live.of(engine.RunSuspended)
	if len(suspended) != 1 || suspended[0].Stop == nil || suspended[0].Stop.Code != stop.Interrupted || suspended[0].Seq != 0 {
		t.Errorf("suspended: %+v", suspended)
	}
	follow := &eventLog{}
	h.Sinks = []engine.Sink{follow}
	session(t, p, h, &journal.Memory{RoundTrip: true, Records: j.Records}, runtime.Options{Follow: &runtime.Tail{}})
	var again []string
	for _, ev := range follow.events {
		again = append(again, numbered(ev))
	}
	without := strings.Split(strings.Replace(strings.Join(got, "\n"), "\n0 run.suspended", "", 1), "\n")
	if diff := cmp.Diff(without, again); diff != "" {
		t.Error(diff)
	}
}

func numbered(ev engine.Event) string { return fmt.Sprint(ev.Seq, " ", ev.Type) }

// fixedReply is a model that always returns the same reply.
type fixedReply model.Reply

func (a fixedReply) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
	r := model.Reply(a)
	return &r, nil
}

// model.completed has the reply and the time to the first token.
func TestModelCompletedCarriesTheMessage(t *testing.T) {
	events := &eventLog{}
	reply := model.Reply{Text: "I look it up.", Calls: []model.ToolCall{{ID: "c1", Name: "x", Args: json.RawMessage(`{"a":1}`)}}, FirstToken: 40 * time.Millisecond}
	p := program(map[string]nodeFunc{"a": func(s engine.Scope) error {
		_, err := s.Model("model", model.Call{Role: "executor", LLM: "main", StepID: "s1", Step: "look it up"})
		return err
	}})
	p.Models = []engine.ModelSpec{{Name: "main"}}
	h := engine.Host{Models: map[string]model.Model{"main": fixedReply(reply)}, Sinks: []engine.Sink{events}}
	session(t, p, h, &journal.Memory{}, runtime.Options{})
	got := events.of(engine.ModelCompleted)
	if len(got) != 1 {
		t.Fatalf("%d events", len(got))
	}
	b, err := json.Marshal(got[0].Message)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"role":"assistant","text":"I look it up.","calls":[{"id":"c1","name":"x","args":{"a":1}}]}`; string(b) != want || got[0].FirstToken != 40 {
		t.Errorf("got %s, first token after %d ms", b, got[0].FirstToken)
	}
}

// run.completed has the totals of the result, also by LLM.
func TestRunCompletedCarriesTheTotals(t *testing.T) {
	events := &eventLog{}
	p := program(map[string]nodeFunc{"a": func(s engine.Scope) error {
		for _, llm := range []string{"large", "small", "small"} {
			if _, err := s.Model(fmt.Sprint("model.", len(s.View().State.Warnings)), model.Call{Role: "executor", LLM: llm}); err != nil {
				return err
			}
			s.Record(engine.WarningAdded{Text: "asked " + llm})
		}
		return nil
	}})
	p.Models = []engine.ModelSpec{{Name: "large"}, {Name: "small"}}
	h := engine.Host{Sinks: []engine.Sink{events}, Models: map[string]model.Model{
		"large": fixedReply{Usage: model.Tokens{Input: 100, Output: 10}},
		"small": fixedReply{Usage: model.Tokens{Input: 20, Output: 2}},
	}}
	res := session(t, p, h, &journal.Memory{}, runtime.Options{})
	got := events.of(engine.RunCompleted)
	if len(got) != 1 || got[0].Totals == nil {
		t.Fatalf("%+v: %+v", res.StopReason, got)
	}
	want := map[string]engine.ModelUsage{
		"large": {ModelCalls: 1, Tokens: model.Tokens{Input: 100, Output: 10}},
		"small": {ModelCalls: 2, Tokens: model.Tokens{Input: 40, Output: 4}},
	}
	if diff := cmp.Diff(want, got[0].Totals.ByModel); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(res.Usage, *got[0].Totals); diff != "" {
		t.Errorf("the event and the result differ: %s", diff)
	}
}
