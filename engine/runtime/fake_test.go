package runtime_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/tool"
)

// funcTool implements tool.Tool with a function.
type funcTool struct {
	effect tool.Effect
	call   func(ctx context.Context, c *tool.Call) (*tool.Output, error)
}

func (f funcTool) Info() tool.Info {
	return tool.Info{Name: "fake", Effect: f.effect, Input: json.RawMessage(`{"type":"object"}`)}
}

func (f funcTool) Call(ctx context.Context, c *tool.Call) (*tool.Output, error) {
	return f.call(ctx, c)
}

// named binds a tool under a name.
func named(name string, t tool.Tool) tool.Binding {
	return tool.Binding{Spec: &tool.Spec{Name: name}, Tool: t}
}

// callTool returns a node that calls a tool n times, with the number of the call as
// argument, concurrently or in sequence.
func callTool(t string, n int, sideBySide bool, recs *[]tool.Record) nodeFunc {
	return func(s engine.Scope) error {
		*recs = make([]tool.Record, n)
		one := func(i int, s engine.Scope) (err error) {
			args, _ := json.Marshal(map[string]int{"n": i})
			(*recs)[i], _, err = s.Tool("tool."+string(rune('0'+i)), engine.Invocation{Tool: t, Args: args, StepID: "s1"})
			return err
		}
		if sideBySide {
			return s.Parallel(n, func(int) string { return "" }, one)
		}
		for i := range n {
			if err := one(i, s); err != nil {
				return err
			}
		}
		return nil
	}
}

func question() engine.Input {
	return engine.Input{RunID: "r", Parameters: map[string]any{"question": "q"}}
}

// session runs a program from its journal until it ends or waits.
func session(t *testing.T, p *engine.Program, h engine.Host, j *journal.Memory, o runtime.Options) *engine.Result {
	t.Helper()
	o.Journal = j
	return execute(t.Context(), p, question(), h, o)
}

func encodeAnswer(t *testing.T, text string) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(interrupt.Parse(text))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// eventLog is a sink that collects events.
type eventLog struct {
	mu     sync.Mutex
	events []engine.Event
}

func (h *eventLog) Send(e engine.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

func (h *eventLog) of(typ engine.EventType) (out []engine.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.events {
		if e.Type == typ {
			out = append(out, e)
		}
	}
	return out
}
