package runtime_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/tool"
)

// waitingModel is a model that reports a retry wait before it replies.
type waitingModel model.RetryEvent

func (p waitingModel) Generate(ctx context.Context, _ *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	model.NoticeRetry(ctx, model.RetryEvent(p))
	return &model.Reply{Text: "x", Stop: model.EndTurn}, nil
}

// retries returns the retry events, and the types of the events before them.
func retries(h *eventLog) (waits []engine.Event, before []engine.EventType) {
	last := engine.EventType("")
	for _, ev := range h.events {
		if ev.Retry != nil {
			ev.At, ev.V, ev.Run = time.Time{}, 0, ""
			waits, before = append(waits, ev), append(before, last)
		}
		last = ev.Type
	}
	return waits, before
}

func TestModelRetryEventIsRedacted(t *testing.T) {
	events := &eventLog{}
	p := program(map[string]nodeFunc{"a": asks(1, 1)})
	p.Models = []engine.ModelSpec{{Name: "main"}}
	runs(p, engine.Host{
		Models:  map[string]model.Model{"main": waitingModel{Attempt: 2, MaxAttempts: 3, Wait: 4000, Error: "rate_limit (HTTP 429): key sk-secret is busy"}},
		Sinks:   []engine.Sink{events},
		Secrets: secret.Unnamed([]string{"sk-secret"}),
	})
	want := []engine.Event{{
		Type: engine.ModelRetrying, Path: "b0/model.0", Model: "main", Role: "executor",
		Retry: &model.RetryEvent{Attempt: 2, MaxAttempts: 3, Wait: 4000, Error: "rate_limit (HTTP 429): key [redacted] is busy"},
	}}
	got, before := retries(events)
	if diff := cmp.Diff(want, got); diff != "" || before[0] != engine.ModelStarted {
		t.Error(before, diff)
	}
}

func TestRetryEventUnderABudgetIsSentOnce(t *testing.T) {
	events := &eventLog{}
	m := &failingModel{fails: []*model.Error{{Kind: model.Truncated, Message: "cut", RetryAfter: 20 * time.Second, Attempts: 1}, fails(model.Truncated)}}
	p := program(map[string]nodeFunc{"a": asks(1, 1)})
	p.Limits = engine.Limits{MaxTokens: 100_000}
	p.Models = []engine.ModelSpec{{Name: "main", Retry: retry.Policy{MaxAttempts: 4, InitialDelay: time.Second}, Params: model.Params{MaxOutputTokens: 3000}}}
	h := engine.Host{Models: map[string]model.Model{"main": m}, Sinks: []engine.Sink{events}}
	j := &journal.Memory{RoundTrip: true}
	o := runtime.Options{Virtual: true}
	session(t, p, h, j, o)
	wait := func(path string, attempt int, ms int64, why string) engine.Event {
		return engine.Event{
			Type: engine.ModelRetrying, Path: path, Model: "main", Role: "executor",
			Retry: &model.RetryEvent{Attempt: attempt, MaxAttempts: 4, Wait: ms, Error: why},
		}
	}
	want := []engine.Event{wait("b0/model.0", 2, 20_000, "truncated: cut"), wait("b0/model.0.again.1", 3, 2_000, "truncated: no")}
	got, _ := retries(events)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	again := &eventLog{}
	h.Sinks = []engine.Sink{again}
	session(t, p, h, j, o)
	session(t, p, h, j, runtime.Options{Follow: &runtime.Tail{}})
	if got, _ := retries(again); len(got) != 0 {
		t.Errorf("sent again: %+v", got)
	}
}

func TestToolRetrySendsAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events, recs, calls := &eventLog{}, []tool.Record{}, 0
		one := named("x", funcTool{tool.ReadEffect, func(context.Context, *tool.Call) (*tool.Output, error) {
			if calls++; calls == 1 {
				return nil, errors.New("no luck with sk-secret")
			}
			return &tool.Output{Text: "y"}, nil
		}})
		one.Spec.Retry = retry.Policy{MaxAttempts: 2, InitialDelay: time.Minute}
		p := program(map[string]nodeFunc{"a": callTool("x", 1, false, &recs)})
		began := time.Now()
		session(t, p, engine.Host{
			Tools: []tool.Binding{one}, Sinks: []engine.Sink{events}, Secrets: secret.Unnamed([]string{"sk-secret"}),
		}, &journal.Memory{}, runtime.Options{})
		want := []engine.Event{{
			Type: engine.ToolRetrying, Path: "tool.0", Tool: "x",
			Retry: &model.RetryEvent{Attempt: 2, MaxAttempts: 2, Wait: 60_000, Error: "no luck with [redacted]"},
		}}
		got, before := retries(events)
		if diff := cmp.Diff(want, got); diff != "" || before[0] != engine.ToolStarted || time.Since(began) != time.Minute {
			t.Error(time.Since(began), before, diff)
		}
	})
}
