package node_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
)

// blank answers with an empty text, as JSON.
type blank struct{ calls int }

func (m *blank) Generate(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	m.calls++
	switch {
	case req.Role == "executor":
		return &model.Reply{Text: "done", Stop: model.EndTurn}, nil
	case m.calls == 1:
		return &model.Reply{Text: `{"steps": ["a"], "result": ""}`, Stop: model.EndTurn}, nil
	}
	return &model.Reply{Text: `{"steps": [], "result": "\"\""}`, Stop: model.EndTurn}, nil
}

// An answer that is empty under a schema that takes any text ends no run: its
// edges ask for a result, and the reflector would be asked for ever.
func TestAnEmptyAnswerIsAskedForAgain(t *testing.T) {
	p := perProgram(t)
	p.Output = &engine.Output{Schema: component.SchemaRef{JSON: json.RawMessage(`{"type":"string"}`)}, MaxAttempts: 2}
	m := &blank{}
	h := perHost(1)
	h.Models["main"] = m
	res := runtime.Run(t.Context(), p, perInput, h, runtime.Options{Virtual: true})
	if res.StopReason.Code != stop.OutputInvalid || m.calls != 5 {
		t.Errorf("ended %s after %d calls", res.StopReason.Code, m.calls)
	}
}
