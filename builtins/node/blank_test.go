package node_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// blank answers with an empty text, as JSON.
type blank struct{ calls int }

func (m *blank) Generate(_ context.Context, req *engine.Request, _ func(engine.Delta)) (*engine.Reply, error) {
	m.calls++
	switch {
	case req.Role == "executor":
		return &engine.Reply{Text: "done", Stop: engine.EndTurn}, nil
	case m.calls == 1:
		return &engine.Reply{Text: `{"steps": ["a"], "result": ""}`, Stop: engine.EndTurn}, nil
	}
	return &engine.Reply{Text: `{"steps": [], "result": "\"\""}`, Stop: engine.EndTurn}, nil
}

// An answer that is empty under a schema that takes any text ends no run: its
// edges ask for a result, and the reflector would be asked for ever.
func TestAnEmptyAnswerIsAskedForAgain(t *testing.T) {
	p := perProgram(t)
	p.Output = &engine.Output{Schema: component.SchemaRef{JSON: json.RawMessage(`{"type":"string"}`)}, MaxAttempts: 2}
	m := &blank{}
	h := perHost(1)
	h.Models["main"] = m
	res := engine.Run(t.Context(), p, perInput, h, engine.Options{Virtual: true})
	if res.StopReason.Code != engine.StopOutputInvalid || m.calls != 5 {
		t.Errorf("ended %s after %d calls", res.StopReason.Code, m.calls)
	}
}
