package runtime_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
)

// retryingModel is a model that retries each call until the allowance is used up, at most
// most times.
type retryingModel struct{ most, repeated int }

func (m *retryingModel) Generate(ctx context.Context, _ *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	for range m.most {
		if _, ok := model.RetriesOf(ctx).Take(); !ok {
			break
		}
		m.repeated++
	}
	return &model.Reply{Text: "x", Stop: model.EndTurn}, nil
}

func TestRetryAllowanceOfARun(t *testing.T) {
	for calls, want := range map[int]int{1: 10, 9: 10, 10: 11, 200: 30} {
		t.Run(fmt.Sprint(calls), func(t *testing.T) {
			m := &retryingModel{most: 50}
			p := program(map[string]nodeFunc{"a": asks(1, calls)})
			p.Models = []engine.ModelSpec{{Name: "main"}}
			if res := runs(p, engine.Host{Models: map[string]model.Model{"main": m}}); res.Error != "" || m.repeated != want {
				t.Errorf("%d repeats, want %d: %s", m.repeated, want, res.Error)
			}
		})
	}
}

func TestNestedAgentsShareTheRetryAllowance(t *testing.T) {
	m := &retryingModel{most: 6}
	host := engine.Host{Models: map[string]model.Model{"main": m}}
	host.Nested = func(*engine.Program, map[string]any) (engine.Host, error) { return host, nil }
	inner := program(map[string]nodeFunc{"a": asks(1, 1)})
	outer := program(map[string]nodeFunc{"a": func(s engine.Scope) error {
		for i := range 3 {
			if _, err := s.Agent(fmt.Sprint("agent.", i), inner, nil); err != nil {
				return err
			}
		}
		return nil
	}})
	inner.Models = []engine.ModelSpec{{Name: "main"}}
	outer.Models, outer.Agents = inner.Models, []*engine.Program{inner}
	if res := runs(outer, host); res.Error != "" || m.repeated != 10 {
		t.Errorf("%d repeats, want 10: %s", m.repeated, res.Error)
	}
	m = &retryingModel{most: 6}
	if _, err := m.Generate(t.Context(), nil, nil); err != nil || m.repeated != 6 {
		t.Errorf("without a run %d repeats: %v", m.repeated, err)
	}
}

// truncatingModel is a model whose connection breaks in each call.
type truncatingModel struct{ calls int }

func (m *truncatingModel) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
	m.calls++
	return nil, &model.Error{Kind: model.Truncated, Message: "broke off", Attempts: 1}
}

func TestRetriesUnderABudgetUseTheAllowance(t *testing.T) {
	m := &truncatingModel{}
	p := program(map[string]nodeFunc{"a": asks(1, 1)})
	p.Limits.MaxTokens = 1_000_000
	p.Models = []engine.ModelSpec{{Name: "main", Retry: retry.Policy{MaxAttempts: 30}}}
	res := runs(p, engine.Host{Models: map[string]model.Model{"main": m}})
	if m.calls != 11 || !strings.Contains(res.Error, "truncated: broke off; not retried: ") {
		t.Errorf("asked %d times: %s", m.calls, res.Error)
	}
}

// fallbackRecorder is a model that fails and records whether a fallback exists.
type fallbackRecorder struct{ fallback []bool }

func (m *fallbackRecorder) Generate(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	m.fallback = append(m.fallback, req.Fallback)
	return nil, &model.Error{Kind: model.Overloaded, Message: "down"}
}

func TestRequestHasFallbackFlag(t *testing.T) {
	m := &fallbackRecorder{}
	p := program(map[string]nodeFunc{"a": asks(1, 1)})
	p.Models = []engine.ModelSpec{{Name: "main", Fallback: []string{"b", "c"}}, {Name: "b"}, {Name: "c", Fallback: []string{"b"}}}
	runs(p, engine.Host{Models: map[string]model.Model{"main": m, "b": m, "c": m}})
	if fmt.Sprint(m.fallback) != "[true true false]" {
		t.Error(m.fallback)
	}
}
