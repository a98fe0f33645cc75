package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

const secretValue = "hu5h-hu5h-value"

// leakyTool is a model and a tool that return a secret in every field.
type leakyTool struct {
	fails bool
	given []string // arguments of its calls
}

func (b *leakyTool) Generate(_ context.Context, _ *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	for _, piece := range []string{"It is hu5h", "-hu5h", "-value, and hu5h-h"} {
		stream(model.Delta{Text: piece, Reasoning: piece})
	}
	if b.fails {
		return nil, &model.Error{Kind: model.AuthError, Status: 401, Message: "bad key " + secretValue, RequestID: secretValue, Err: errors.New(secretValue)}
	}
	calls := []model.ToolCall{
		{ID: "id-" + secretValue, Name: "tell", Args: json.RawMessage(`{"said":"` + secretValue + `"}`), Opaque: json.RawMessage(`{"signed":"` + secretValue + `"}`)},
		{ID: "2", Name: "no-" + secretValue, Args: json.RawMessage(`{"said": ` + secretValue), Opaque: json.RawMessage(`{"signed":"kept"}`)},
	}
	return &model.Reply{Text: "It is " + secretValue, Calls: calls, Stop: model.ToolUse, Model: "m-" + secretValue, ID: secretValue}, nil
}

func (b *leakyTool) Info() tool.Info {
	return tool.Info{Name: "tell", Effect: tool.ReadEffect}
}

func (b *leakyTool) Call(_ context.Context, c *tool.Call) (*tool.Output, error) {
	b.given = append(b.given, string(c.Args))
	c.Progress("telling " + secretValue)
	if b.fails {
		return nil, errors.New("no way to " + secretValue)
	}
	return &tool.Output{Text: "told " + secretValue, Data: json.RawMessage(`{"told":"hu5h\u002dhu5h-value"}`)}, nil
}

// eventText is a sink that collects events and streamed text.
type eventText struct {
	lines  strings.Builder
	stream strings.Builder
}

func (c *eventText) Send(e engine.Event) {
	b, _ := json.Marshal(e)
	c.lines.Write(b)
	if e.Type == engine.ModelDelta {
		c.stream.WriteString(e.Text)
	}
}

// Secrets in the output of models and tools are redacted before the run, the journal and
// the sinks receive it, and a resumed run sees the same values.
func TestModelAndToolOutputIsRedacted(t *testing.T) {
	for _, fails := range []bool{false, true} {
		t.Run(fmt.Sprintf("fails %v", fails), func(t *testing.T) {
			b, j, heard := &leakyTool{fails: fails}, &journal.Memory{RoundTrip: true}, &eventText{}
			var seen []string
			p := program(map[string]nodeFunc{"a": func(s engine.Scope) error {
				reply, err := s.Model("model", model.Call{Role: "executor", LLM: "main"})
				rec, _, _ := s.Tool("tool.0", engine.Invocation{Tool: "tell", Args: json.RawMessage(`{}`), StepID: "s1"})
				whole, _ := json.Marshal(reply)
				seen = append(seen, fmt.Sprintf("%s %v %s %s", whole, err, rec.Text(), rec.Result))
				if reply != nil && (reply.Calls[0].Opaque != nil || string(reply.Calls[1].Opaque) != `{"signed":"kept"}`) {
					t.Error("opaque:", reply.Calls)
				}
				return nil
			}})
			p.Models = []engine.ModelSpec{{Name: "main"}}
			h := engine.Host{
				Models: map[string]model.Model{"main": b}, Tools: []tool.Binding{{Tool: b}}, Sinks: []engine.Sink{heard},
				Secrets: secret.New(map[string]string{"HUSH": secretValue}),
			}
			for range 2 {
				res := execute(t.Context(), p, engine.Input{RunID: "r", Parameters: map[string]any{}}, h, runtime.Options{Journal: j, Virtual: true, Stream: true})
				if res.Status != stop.RunCompleted {
					t.Fatalf("%s: %s", res.Status, res.StopReason)
				}
			}
			var kept strings.Builder
			for _, r := range j.Records {
				kept.WriteString(r.Path + " " + string(r.Body) + "\n")
			}
			for where, text := range map[string]string{"journal": kept.String(), "events": heard.lines.String(), "stream": heard.stream.String(), "run": strings.Join(seen, "\n")} {
				if strings.Contains(text, secretValue) || !strings.Contains(text, "[redacted HUSH]") {
					t.Errorf("%s: %s", where, text)
				}
			}
			if got, want := heard.stream.String(), "It is [redacted HUSH], and hu5h-h"; got != want {
				t.Errorf("streamed %q, want %q", got, want)
			}
			if seen[0] != seen[1] {
				t.Errorf("the resumed run saw\n%s\nwant\n%s", seen[1], seen[0])
			}
			if len(b.given) != 1 {
				t.Errorf("the tool was called %d times", len(b.given))
			}
		})
	}
}
