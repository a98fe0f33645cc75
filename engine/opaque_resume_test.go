package engine_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
)

// signing is a model whose call carries something for itself, and that keeps
// what it is sent.
type signing struct{ sent [][]engine.Message }

var signedCall = engine.ToolCall{ID: "c1", Name: "find", Args: json.RawMessage(`{"q":`), Opaque: json.RawMessage(`{"signature":"bW9zcw==","n":12345678901234567890}`)}

func (m *signing) Generate(_ context.Context, req *engine.Request, _ func(engine.Delta)) (*engine.Reply, error) {
	m.sent = append(m.sent, req.Messages)
	if req.Call == 1 {
		return &engine.Reply{Calls: []engine.ToolCall{signedCall}, Stop: engine.ToolUse}, nil
	}
	return &engine.Reply{Text: "done", Stop: engine.EndTurn}, nil
}

// looping asks the model, and again with its own call.
func looping(s engine.Scope) error {
	c := engine.ModelCall{Role: "executor", LLM: "m", Messages: []engine.Message{{Role: engine.User, Text: engine.Text{"Go."}}}}
	r, err := s.Model("model.1", c)
	if err != nil {
		return err
	}
	c.Messages = append(
		c.Messages,
		engine.Message{Role: engine.Assistant, Calls: r.Calls},
		engine.Message{Role: engine.ToolRole, CallID: r.Calls[0].ID, Text: engine.Text{"green"}},
	)
	_, err = s.Model("model.2", c)
	return err
}

// TestWhatACallCarriesComesBackToARunThatIsResumed cuts a run after each record
// of its journal and resumes it: the provider sees its own words again, whether
// the reply was just given or is read from the journal.
func TestWhatACallCarriesComesBackToARunThatIsResumed(t *testing.T) {
	p := program(map[string]does{"a": looping})
	p.Models = []engine.ModelSpec{{Name: "m"}}
	answered := false // from the journal
	for cut := 1; ; cut++ {
		m, j := &signing{}, &journal.Memory{Paranoid: true}
		session := func() *engine.Result {
			return engine.Run(t.Context(), p, engine.Input{RunID: "r"}, engine.Host{Models: map[string]engine.Model{"m": m}}, engine.Options{Virtual: true, Journal: j})
		}
		session()
		if cut >= len(j.Records) {
			break
		}
		j.Records, m.sent = j.Records[:cut:cut], nil
		if res := session(); res.Status != engine.Completed || len(res.Warnings) > 0 {
			t.Fatalf("cut after %d: %s %+v, warnings %v", cut, res.Status, res.StopReason, res.Warnings)
		}
		answered = answered || len(m.sent) == 1
		if len(m.sent) == 0 {
			continue
		}
		got := m.sent[len(m.sent)-1][1].Calls
		if diff := cmp.Diff([]engine.ToolCall{signedCall}, got); diff != "" {
			t.Errorf("cut after %d: %s", cut, diff)
		}
	}
	if !answered {
		t.Error("no session began with the first reply in the journal: nothing is proved")
	}
}

func TestACallWithoutAnythingOpaqueIsWrittenAsBefore(t *testing.T) {
	b, err := json.Marshal(engine.ToolCall{ID: "c1", Name: "find", Args: json.RawMessage(`{}`)})
	if err != nil || string(b) != `{"id":"c1","name":"find","args":{}}` {
		t.Errorf("%s, %v", b, err)
	}
}
