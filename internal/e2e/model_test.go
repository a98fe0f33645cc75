//go:build e2e && unix

package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/builtins/node/reply"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/internal/e2e"
	"github.com/pexctl/pex/providers/openai"
)

// model is an openai model at a server, with so many attempts a call.
func fakeModel(t *testing.T, base, name string, attempts int) model.Model {
	t.Helper()
	config := openai.OpenAI.Config().(*openai.Config)
	m, err := openai.OpenAI.Build(config, model.Settings{
		Name: "main", Model: name, BaseURL: base, APIKey: "of-nothing", Timeout: 30 * time.Second,
		Retry: retry.Policy{MaxAttempts: attempts, InitialDelay: time.Millisecond, MaxDelay: 5 * time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ask(question string) *model.Request {
	return &model.Request{
		Role:     "planner",
		Messages: []model.Message{{Role: model.System, Text: model.Text{"Answer in JSON."}}, {Role: model.User, Text: model.Text{question}}},
	}
}

// generate makes one call, which must end within a minute, and checks that the
// deltas of a stream make up its reply.
func generate(t *testing.T, m model.Model, req *model.Request, streamed bool) (*model.Reply, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if !streamed {
		return m.Generate(ctx, req, nil)
	}
	var text strings.Builder
	r, err := m.Generate(ctx, req, func(d model.Delta) { text.WriteString(d.Text) })
	if err == nil && r.Attempts <= 1 && text.String() != r.Text {
		t.Errorf("deltas make up %q, the reply is %q", text.String(), r.Text)
	}
	return r, err
}

const planSchema = `{"type": "object", "additionalProperties": false, "required": ["steps", "result"], "properties": {
	"steps": {"type": "array", "minItems": 1, "maxItems": 4, "items": {"type": "string", "minLength": 3, "maxLength": 24}},
	"result": {"type": "string", "maxLength": 40}}}`

// Random weights under a grammar: what comes back is noise in the form of a
// plan, so a plan that cannot be read is the fault of transport or reader.
func TestE2EFiftyPlansOfFiftyCanBeRead(t *testing.T) {
	m := fakeModel(t, e2e.Ollama(t, "../../testdata/models/tiny.gguf"), "tiny", 2)
	for _, streamed := range []bool{false, true} {
		t.Run(fmt.Sprintf("streamed=%v", streamed), func(t *testing.T) {
			read := 0
			for i := range 50 {
				req := ask(fmt.Sprintf("Plan number %d.", i))
				seed := int64(i)
				req.Params = model.Params{Seed: &seed, MaxOutputTokens: 1200}
				req.Schema = &model.ReplySchema{Name: "plan", Schema: json.RawMessage(planSchema)}
				r, err := generate(t, m, req, streamed)
				if err != nil {
					t.Errorf("call %d: %v", i, err)
					continue
				}
				if r.Stop != model.EndTurn || r.Usage.Input == 0 || r.Usage.Output == 0 || r.Estimated {
					t.Errorf("call %d: stop %s, usage %+v, estimated %v", i, r.Stop, r.Usage, r.Estimated)
				}
				if got := reply.Parse(r.Text, reply.Options{}); got.Kind == reply.Error {
					t.Errorf("call %d: %s: %s\n%s", i, got.Code, got.Message, r.Text)
					continue
				}
				read++
			}
			t.Logf("%d of 50 plans read", read)
		})
	}
}

// A part of an answer is no answer: what is cut off is an error that says so.
// Ollama 0.17.4 itself stops answering after some dozens of cut connections, so
// there are few, and a server that is silent ends the test.
func TestE2ECancelledStreamsAreErrors(t *testing.T) {
	m := fakeModel(t, e2e.Ollama(t, "../../testdata/models/tiny.gguf"), "tiny", 1)
	cut := 0
	for i := range 12 {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		req := ask("Go on and on.")
		req.Params.MaxOutputTokens = 1200
		deltas, wanted := 0, 1+i/4
		r, err := m.Generate(ctx, req, func(model.Delta) {
			if deltas++; deltas == wanted {
				cancel()
			}
		})
		cancel()
		if deltas == 0 && err != nil {
			t.Logf("call %d: the server gives no answer any more: %v", i, err)
			break
		}
		if deltas >= wanted {
			cut++
			if !errors.Is(err, context.Canceled) {
				t.Errorf("call %d, cancelled at delta %d: reply %+v, error %v", i, wanted, r, err)
			}
		}
	}
	if cut < 3 {
		t.Errorf("only %d streams were cut: the test proves nothing", cut)
	}
}

func weatherRequest() *model.Request {
	req := ask("Tell me the weather in three cities.")
	req.ParallelTools = true
	req.Tools = []model.ToolDef{{Name: "weather", Description: "The weather.", Input: json.RawMessage(`{"type": "object"}`)}}
	return req
}

// calls are the names and arguments of a reply's tool calls; ids are chance.
func calls(r *model.Reply) []string {
	var out []string
	for _, c := range r.Calls {
		out = append(out, c.Name+string(c.Args))
	}
	return out
}

var threeCities = []string{
	`weather{"city":"Oslo","days":3,"note":"a text that is long enough to be cut into many pieces, with \"quotes\" and ü"}`,
	`weather{"city":"Lima","days":1}`,
	`weather{}`,
}

const longSentence = "One sentence, which is long enough to come in several pieces, and which says: grüße ✓."

// right says what is wrong with an answer of the mock, or "".
func right(r *model.Reply, tools bool) string {
	if !tools {
		if r.Text != longSentence || r.Stop != model.EndTurn {
			return fmt.Sprintf("text %q, stop %s", r.Text, r.Stop)
		}
		return ""
	}
	if r.Stop != model.ToolUse {
		return fmt.Sprintf("stop %s", r.Stop)
	}
	return cmp.Diff(threeCities, calls(r))
}

func mockRequest(tools bool) *model.Request {
	if tools {
		return weatherRequest()
	}
	return ask("Please say the long sentence.")
}

func TestE2EParallelToolCallsArriveWhole(t *testing.T) {
	m := fakeModel(t, e2e.Aimock(t, "testdata/aimock.json", "--chunk-size", "3"), "mock", 1)
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

// Under chaos every call ends, in the right answer or in a typed error.
func TestE2EChaosGivesNoWrongAnswer(t *testing.T) {
	const n, workers = 400, 8
	base := e2e.Aimock(t, "testdata/aimock.json", "--chunk-size", "5",
		"--chaos-ratelimit", "0.1", "--chaos-drop", "0.1", "--chaos-malformed", "0.1", "--chaos-disconnect", "0.1")
	m := fakeModel(t, base, "mock", 1)
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
