package runtime_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
)

// interruptedModel posts a message during its first call, which ends with its context.
type interruptedModel struct {
	inbox *runtime.Inbox
	calls []string
}

func (m *interruptedModel) Generate(ctx context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	m.calls = append(m.calls, req.Key)
	if len(m.calls) > 1 {
		return &model.Reply{Text: "x", Stop: model.EndTurn, Usage: model.Tokens{Input: 10, Output: 10}}, nil
	}
	msg := runtime.NewMessage("m", "stop", engine.Actor{})
	msg.Interrupt = true
	m.inbox.Post(msg)
	<-ctx.Done()
	return nil, ctx.Err()
}

// An interrupted call is neither retried nor given to another model, its most is charged
// to the budget, and its event says what ended it. A resumed run has the same outcome.
func TestInterruptedCallIsChargedAndNotRetried(t *testing.T) {
	call := model.Call{Role: "executor", LLM: "main", Messages: []model.Message{{Role: model.User, Text: model.Text{"hello"}}}, Interruptible: true}
	var got []error
	node := nodeFunc(func(s engine.Scope) error {
		_, err := s.Model("model", call)
		_, again := s.Model("model.2", call)
		got = []error{err, again}
		return again
	})
	p := program(map[string]nodeFunc{"a": node})
	p.Limits.MaxTokens = 20_000
	p.Models = []engine.ModelSpec{{Name: "main", Fallback: []string{"other"}}, {Name: "other"}}
	p.Models[0].Retry.MaxAttempts = 5
	m := &interruptedModel{inbox: &runtime.Inbox{}}
	events, j := &eventLog{}, &journal.Memory{RoundTrip: true}
	h := engine.Host{Models: map[string]model.Model{"main": m, "other": m}, Sinks: []engine.Sink{events}}
	res := session(t, p, h, j, runtime.Options{Inbox: m.inbox})
	var me *model.Error
	if res.Status == stop.RunFailed || !errors.As(got[0], &me) || me.Kind != model.Interrupted || !me.Charged || got[1] != nil {
		t.Fatalf("%s %s: %v", res.Status, res.Error, got)
	}
	if want := []string{"r/model", "r/model.2"}; !slices.Equal(m.calls, want) {
		t.Errorf("calls %q, want %q", m.calls, want)
	}
	if done := events.of(engine.ModelCompleted); len(done) != 2 || done[0].Status != "interrupted" || done[0].Usage != nil {
		t.Errorf("%+v", done)
	}
	if len(res.Warnings) != 1 || len(events.of(engine.MessageReceivedEvent)) != 1 || events.of(engine.MessageReceivedEvent)[0].Status != engine.StatusInterrupt {
		t.Errorf("warnings %q, messages %+v", res.Warnings, events.of(engine.MessageReceivedEvent))
	}
	for cut := 2; cut <= len(j.Records); cut++ {
		again := &journal.Memory{RoundTrip: true, Records: slices.Clone(j.Records[:cut])}
		other := &interruptedModel{inbox: &runtime.Inbox{}, calls: []string{"not the first"}}
		res := session(t, p, engine.Host{Models: map[string]model.Model{"main": other, "other": other}}, again, runtime.Options{})
		said := slices.ContainsFunc(j.Records[:cut], func(r journal.Record) bool { return r.Kind == journal.Said })
		if errors.As(got[0], &me) != said || said && me.Kind != model.Interrupted || len(res.Messages) != map[bool]int{true: 1}[said] {
			t.Errorf("cut at %d: %v, %+v", cut, got, res.Messages)
		}
	}
}
