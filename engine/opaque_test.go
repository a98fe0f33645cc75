package engine_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
)

// signer is a model whose calls carry what it wants back, and that notes what it gets.
type signer struct{ given []string }

func (m *signer) Generate(_ context.Context, req *engine.Request, _ func(engine.Delta)) (*engine.Reply, error) {
	for _, msg := range req.Messages {
		for _, c := range msg.Calls {
			m.given = append(m.given, string(c.Opaque))
		}
	}
	call := engine.ToolCall{ID: "c1", Name: "find", Args: json.RawMessage(`{"q":`), Opaque: json.RawMessage(`{"signature":"a+b/c="}`)}
	return &engine.Reply{Stop: engine.ToolUse, Calls: []engine.ToolCall{call}}, nil
}

func TestWhatAProviderWantsBackSurvivesAJournal(t *testing.T) {
	m, j := &signer{}, &journal.Memory{Paranoid: true}
	var replies []*engine.Reply
	p := program(map[string]does{"a": func(s engine.Scope) error {
		first, err := s.Model("first", engine.ModelCall{Role: "executor", LLM: "main"})
		if err != nil {
			return err
		}
		second, err := s.Model("second", engine.ModelCall{Role: "executor", LLM: "main", Messages: []engine.Message{
			{Role: engine.Assistant, Calls: first.Calls},
			{Role: engine.ToolRole, CallID: "c1", Tool: "find"},
		}})
		replies = append(replies, first, second)
		return err
	}})
	p.Models = []engine.ModelSpec{{Name: "main"}}
	h := engine.Host{Models: map[string]engine.Model{"main": m}}
	for range 2 {
		if res := engine.Run(t.Context(), p, engine.Input{RunID: "r", Parameters: map[string]any{}}, h, engine.Options{Journal: j, Virtual: true}); res.Status != engine.Completed {
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
