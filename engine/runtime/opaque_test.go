package runtime_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
)

// opaqueRecorder is a model whose tool calls have opaque data, and that records the data
// it receives back.
type opaqueRecorder struct{ given []string }

func (m *opaqueRecorder) Generate(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	for _, msg := range req.Messages {
		for _, c := range msg.Calls {
			m.given = append(m.given, string(c.Opaque))
		}
	}
	call := model.ToolCall{ID: "c1", Name: "find", Args: json.RawMessage(`{"q":`), Opaque: json.RawMessage(`{"signature":"a+b/c="}`)}
	return &model.Reply{Stop: model.ToolUse, Calls: []model.ToolCall{call}}, nil
}

func TestOpaqueDataSurvivesTheJournal(t *testing.T) {
	m, j := &opaqueRecorder{}, &journal.Memory{RoundTrip: true}
	var replies []*model.Reply
	p := program(map[string]nodeFunc{"a": func(s engine.Scope) error {
		first, err := s.Model("first", model.Call{Role: "executor", LLM: "main"})
		if err != nil {
			return err
		}
		second, err := s.Model("second", model.Call{Role: "executor", LLM: "main", Messages: []model.Message{
			{Role: model.Assistant, Calls: first.Calls},
			{Role: model.ToolRole, CallID: "c1", Tool: "find"},
		}})
		replies = append(replies, first, second)
		return err
	}})
	p.Models = []engine.ModelSpec{{Name: "main"}}
	h := engine.Host{Models: map[string]model.Model{"main": m}}
	for range 2 {
		if res := execute(t.Context(), p, engine.Input{RunID: "r", Parameters: map[string]any{}}, h, runtime.Options{Journal: j, Virtual: true}); res.Status != stop.RunCompleted {
			t.Fatalf("%s: %s", res.Status, res.StopReason)
		}
	}
	if d := cmp.Diff([]string{`{"signature":"a+b/c="}`}, m.given); d != "" {
		t.Errorf("given to the model: %s", d)
	}
	if d := cmp.Diff(replies[:2], replies[2:]); d != "" {
		t.Errorf("after the journal: %s", d)
	}
}
