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

// opaqueModel is a model whose tool call has opaque data. It records the messages sent.
type opaqueModel struct{ sent [][]model.Message }

var signedCall = model.ToolCall{ID: "c1", Name: "find", Args: json.RawMessage(`{"q":`), Opaque: json.RawMessage(`{"signature":"bW9zcw==","n":12345678901234567890}`)}

func (m *opaqueModel) Generate(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	m.sent = append(m.sent, req.Messages)
	if req.Call == 1 {
		return &model.Reply{Calls: []model.ToolCall{signedCall}, Stop: model.ToolUse}, nil
	}
	return &model.Reply{Text: "done", Stop: model.EndTurn}, nil
}

// callTwice calls the model, and again with its own tool call.
func callTwice(s engine.Scope) error {
	c := model.Call{Role: "executor", LLM: "m", Messages: []model.Message{{Role: model.User, Text: model.Text{"Go."}}}}
	r, err := s.Model("model.1", c)
	if err != nil {
		return err
	}
	c.Messages = append(
		c.Messages,
		model.Message{Role: model.Assistant, Calls: r.Calls},
		model.Message{Role: model.ToolRole, CallID: r.Calls[0].ID, Text: model.Text{"green"}},
	)
	_, err = s.Model("model.2", c)
	return err
}

// TestResumedRunReturnsOpaqueData cuts a run after each record of its journal and resumes
// it. The provider receives its opaque data unchanged, whether the reply is new or comes
// from the journal.
func TestResumedRunReturnsOpaqueData(t *testing.T) {
	p := program(map[string]nodeFunc{"a": callTwice})
	p.Models = []engine.ModelSpec{{Name: "m"}}
	answered := false // from the journal
	for cut := 1; ; cut++ {
		m, j := &opaqueModel{}, &journal.Memory{RoundTrip: true}
		session := func() *engine.Result {
			return execute(t.Context(), p, engine.Input{RunID: "r"}, engine.Host{Models: map[string]model.Model{"m": m}}, runtime.Options{Virtual: true, Journal: j})
		}
		session()
		if cut >= len(j.Records) {
			break
		}
		j.Records, m.sent = j.Records[:cut:cut], nil
		if res := session(); res.Status != stop.RunCompleted || len(res.Warnings) > 0 {
			t.Fatalf("cut after %d: %s %+v, warnings %v", cut, res.Status, res.StopReason, res.Warnings)
		}
		answered = answered || len(m.sent) == 1
		if len(m.sent) == 0 {
			continue
		}
		got := m.sent[len(m.sent)-1][1].Calls
		if diff := cmp.Diff([]model.ToolCall{signedCall}, got); diff != "" {
			t.Errorf("cut after %d: %s", cut, diff)
		}
	}
	if !answered {
		t.Error("no session started with the first reply in the journal")
	}
}

func TestCallWithoutOpaqueDataIsEncodedAsBefore(t *testing.T) {
	b, err := json.Marshal(model.ToolCall{ID: "c1", Name: "find", Args: json.RawMessage(`{}`)})
	if err != nil || string(b) != `{"id":"c1","name":"find","args":{}}` {
		t.Errorf("%s, %v", b, err)
	}
}
