//go:build e2e && unix

package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/internal/e2e"
	"github.com/pexctl/pex/providers/bedrock"
)

// converse is a bedrock model at a mock, whose requests are signed.
func converse(t *testing.T, flags ...string) model.Model {
	t.Helper()
	base := strings.TrimSuffix(e2e.Aimock(t, "testdata/aimock.json", flags...), "/v1")
	env := map[string]string{"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "of-nothing", "AWS_REGION": "eu-west-1"}
	m, err := bedrock.Bedrock.Build(bedrock.Bedrock.Config(), model.Settings{
		Name: "main", Model: "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", BaseURL: base, Timeout: 30 * time.Second,
		Retry: retry.Policy{MaxAttempts: 1}, Env: func(name string) string { return env[name] },
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestE2EConverseArrivesWhole(t *testing.T) {
	m := converse(t, "--chunk-size", "3")
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

func TestE2EConverseHearsWhatAToolSaid(t *testing.T) {
	m := converse(t)
	req := &model.Request{
		Messages: []model.Message{
			{Role: model.System, Text: model.Text{"EXECUTOR OF THE CHECK"}},
			{Role: model.User, Text: model.Text{"multiply six by seven"}},
		},
		Tools: []model.ToolDef{{Name: "calculator", Input: json.RawMessage(`{"type": "object", "properties": {"expression": {"type": "string"}}}`)}},
	}
	r, err := generate(t, m, req, true)
	if err != nil || len(r.Calls) != 1 || string(r.Calls[0].Args) != `{"expression":"6 * 7"}` {
		t.Fatalf("reply %+v, error %v", r, err)
	}
	req.Messages = append(
		req.Messages,
		model.Message{Role: model.Assistant, Text: model.Text{r.Text}, Calls: r.Calls},
		model.Message{Role: model.ToolRole, CallID: r.Calls[0].ID, Tool: "calculator", Text: model.Text{"42"}},
	)
	if r, err = generate(t, m, req, true); err != nil || r.Text != "the product is 42" || r.Stop != model.EndTurn {
		t.Errorf("reply %+v, error %v", r, err)
	}
}

// Under chaos every call ends, in the right answer or in a typed error.
func TestE2EConverseInChaosGivesNoWrongAnswer(t *testing.T) {
	const n, workers = 200, 8
	m := converse(t, "--chunk-size", "5",
		"--chaos-ratelimit", "0.1", "--chaos-drop", "0.1", "--chaos-malformed", "0.1", "--chaos-disconnect", "0.1")
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
