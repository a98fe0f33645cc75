//go:build e2e && unix

package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/internal/e2e"
	"github.com/pexctl/pex/providers/anthropic"
)

// claude is an anthropic model at a server, with so many attempts a call.
func claude(t *testing.T, base string, attempts int, change func(*anthropic.Config)) model.Model {
	t.Helper()
	config := anthropic.Anthropic.Config().(*anthropic.Config)
	if change != nil {
		change(config)
	}
	m, err := anthropic.Anthropic.Build(config, model.Settings{
		Name: "main", Model: "claude-mock", BaseURL: base, APIKey: "of-nothing", Timeout: 30 * time.Second,
		Retry: retry.Policy{MaxAttempts: attempts, InitialDelay: time.Millisecond, MaxDelay: 5 * time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestE2EAnthropicAnswersArriveWhole(t *testing.T) {
	m := claude(t, e2e.Aimock(t, "testdata/aimock.json", "--chunk-size", "3"), 1, nil)
	for _, streamed := range []bool{false, true} {
		for _, tools := range []bool{false, true} {
			t.Run(fmt.Sprintf("streamed=%v,tools=%v", streamed, tools), func(t *testing.T) {
				r, err := generate(t, m, mockRequest(tools), streamed)
				if err != nil {
					t.Fatal(err)
				}
				if wrong := right(r, tools); wrong != "" {
					t.Error(wrong)
				}
			})
		}
	}
}

// The mock refuses a loop that goes on with a thinking budget and without the
// thinking that led to its calls.
func TestE2EAnthropicThinkingGoesThroughALoop(t *testing.T) {
	m := claude(t, e2e.Aimock(t, "testdata/anthropic.json", "--chunk-size", "4"), 1, func(c *anthropic.Config) { c.ThinkingBudget = 2048 })
	for _, streamed := range []bool{false, true} {
		t.Run(fmt.Sprintf("streamed=%v", streamed), func(t *testing.T) {
			req := ask("Multiply six by seven, and think.")
			req.Tools = []model.ToolDef{{Name: "calculator", Input: json.RawMessage(`{"type": "object"}`)}}
			called, err := generate(t, m, req, streamed)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{`calculator{"expression":"6 * 7"}`}, calls(called)); diff != "" {
				t.Fatal(diff)
			}
			req.Messages = append(
				req.Messages,
				model.Message{Role: model.Assistant, Text: model.Text{called.Text}, Calls: called.Calls},
				model.Message{Role: model.ToolRole, CallID: called.Calls[0].ID, Tool: "calculator", Text: model.Text{"42"}},
			)
			got, err := generate(t, m, req, streamed)
			if err != nil || got.Text != "the product is 42" {
				t.Errorf("reply %+v, error %v", got, err)
			}
			req.Messages[2].Calls[0].Opaque = nil
			if got, err = generate(t, m, req, streamed); err != nil || got.Text != "the product is 42" {
				t.Errorf("without its thinking: reply %+v, error %v", got, err)
			}
		})
	}
}

// Under chaos every call ends, in the right answer or in a typed error.
func TestE2EAnthropicChaosGivesNoWrongAnswer(t *testing.T) {
	const n, workers = 200, 8
	base := e2e.Aimock(t, "testdata/aimock.json", "--chunk-size", "5",
		"--chaos-ratelimit", "0.1", "--chaos-drop", "0.1", "--chaos-malformed", "0.1", "--chaos-disconnect", "0.1")
	m := claude(t, base, 1, nil)
	var mu sync.Mutex
	kinds := map[model.ErrorKind]int{}
	answered := 0
	one := func(i int) {
		tools, streamed := i%2 == 0, i%4 < 2
		r, err := generate(t, m, mockRequest(tools), streamed)
		mu.Lock()
		defer mu.Unlock()
		var e *model.Error
		switch {
		case err == nil && right(r, tools) == "":
			answered++
		case err == nil:
			t.Errorf("call %d: a wrong answer was taken for a right one: %s", i, right(r, tools))
		case errors.As(err, &e):
			kinds[e.Kind]++
		default:
			t.Errorf("call %d: untyped error %v", i, err)
		}
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				one(i)
			}
		})
	}
	wg.Wait()
	t.Logf("%d right, errors %v", answered, kinds)
	if answered < n/3 || len(kinds) < 2 {
		t.Errorf("%d of %d right, errors %v: was there chaos at all?", answered, n, kinds)
	}
}
