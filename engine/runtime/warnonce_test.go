package runtime_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
)

// A warning about a server is given once per run, and the same on replay.
func TestServerWarningIsGivenOncePerRun(t *testing.T) {
	inner := program(map[string]nodeFunc{"a": asks(1, 1)})
	p := program(map[string]nodeFunc{"a": func(s engine.Scope) error {
		if err := asks(1, 3)(s); err != nil {
			return err
		}
		for _, name := range []string{"x", "y"} {
			if _, err := s.Agent(name, inner, nil); err != nil {
				return err
			}
		}
		return nil
	}})
	inner.Name, p.Agents = "helper", []*engine.Program{inner}
	p.Models = []engine.ModelSpec{{Name: "main"}}
	inner.Models = []engine.ModelSpec{{Name: "main"}}
	cuts := fixedReply{Text: "x", Stop: model.EndTurn, Usage: model.Tokens{Input: 2048, Output: 1}, Sent: 8000}
	guesses := fixedReply{Text: "x", Stop: model.EndTurn, Estimated: true, Uncounted: true}
	h := engine.Host{Models: map[string]model.Model{"main": cuts}}
	h.Nested = func(*engine.Program, map[string]any) (engine.Host, error) {
		return engine.Host{Models: map[string]model.Model{"main": guesses}}, nil
	}
	want := []string{
		"llm main (executor): the server counted 2048 input tokens of a prompt of about 8000, so it may have cut the prompt to its context window; raise that window at the server (num_ctx of Ollama), or shorten the prompt",
		"llm main (executor): the server reports no token usage, so tokens and cost are estimated, and limits.max_tokens and limits.max_cost are only as exact as that (characters / 4); --no-stream helps where a server counts whole replies only",
	}
	j := &journal.Memory{RoundTrip: true}
	for _, o := range []runtime.Options{{Virtual: true}, {Follow: &runtime.Tail{}}} {
		events := &eventLog{}
		h.Sinks = []engine.Sink{events}
		res := session(t, p, h, j, o)
		if diff := cmp.Diff(want, res.Warnings); diff != "" {
			t.Error(diff)
		}
		if n := len(events.of(engine.Warning)); n != len(want) {
			t.Errorf("%d warnings were sent", n)
		}
	}
}
