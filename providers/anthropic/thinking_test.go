package anthropic_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/anthropic"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

// first returns the first request of a tool loop.
func first() *model.Request {
	return &model.Request{
		Messages:      []model.Message{say(model.System, "Be brief."), say(model.User, "What is the weather?")},
		Tools:         []model.ToolDef{{Name: "get_weather"}, {Name: "now"}},
		ParallelTools: true,
	}
}

// answered returns the request that follows req: with the recorded reply, encoded and
// decoded like in a journal, and the results of its calls.
func answered(t *testing.T, c anthropic.Config, req *model.Request, file string) *model.Request {
	t.Helper()
	reply, err := at(t, modelhttptest.Replay(t, "application/json", recorded(t, file)), c, model.Settings{Model: "claude-1"}).Generate(t.Context(), req, nil)
	if err != nil {
		t.Fatal(err)
	}
	var stored model.Reply
	if text, err := json.Marshal(reply); err != nil || json.Unmarshal(text, &stored) != nil {
		t.Fatal(err)
	}
	out := *req
	out.Messages = append(slices.Clone(req.Messages), model.Message{Role: model.Assistant, Text: model.Text{stored.Text}, Calls: stored.Calls})
	for _, c := range stored.Calls {
		out.Messages = append(out.Messages, model.Message{Role: model.ToolRole, CallID: c.ID, Tool: c.Name, Text: model.Text{"fine"}})
	}
	return &out
}

// turns sends a request and returns the block types of each assistant turn, and the field
// thinking.
func turns(t *testing.T, c anthropic.Config, llm string, req *model.Request) (blocks []string, thinking any) {
	t.Helper()
	raw, _ := sent(t, c, model.Settings{Model: llm}, req, nil)
	got := fields(t, raw)
	for _, m := range got["messages"].([]any) {
		m := m.(map[string]any)
		if m["role"] != "assistant" {
			continue
		}
		var types []string
		for _, b := range m["content"].([]any) {
			types = append(types, b.(map[string]any)["type"].(string))
		}
		blocks = append(blocks, strings.Join(types, " "))
	}
	return blocks, got["thinking"]
}

const (
	thoughtful  = "thinking redacted_thinking text thinking tool_use tool_use"
	thoughtless = "text tool_use tool_use"
)

func TestThinkingIsSentBackUnchanged(t *testing.T) {
	raw, _ := sent(t, defaults(), model.Settings{Model: "claude-1"}, answered(t, defaults(), first(), "thinking_tools.json"), nil)
	var want struct{ Content any }
	if err := json.Unmarshal(recorded(t, "thinking_tools.json"), &want); err != nil {
		t.Fatal(err)
	}
	got := fields(t, raw)["messages"].([]any)[1].(map[string]any)["content"]
	if diff := cmp.Diff(want.Content, got); diff != "" {
		t.Error(diff)
	}
}

func TestThinkingIsDroppedIfTheConversationChanged(t *testing.T) {
	tests := []struct {
		name   string
		model  string
		change func(c *anthropic.Config, req *model.Request)
		want   string
	}{
		{"nothing changed", "claude-1", func(*anthropic.Config, *model.Request) {}, thoughtful},
		{"the conversation continues", "claude-1", func(_ *anthropic.Config, r *model.Request) {
			r.Messages = append(r.Messages, say(model.User, "Thanks."))
		}, thoughtful},
		{"another model", "claude-2", func(*anthropic.Config, *model.Request) {}, thoughtless},
		{"another question", "claude-1", func(_ *anthropic.Config, r *model.Request) { r.Messages[1] = say(model.User, "Hm?") }, thoughtless},
		{"another system prompt", "claude-1", func(_ *anthropic.Config, r *model.Request) { r.Messages[0] = say(model.System, "Hm.") }, thoughtless},
		{"a shorter conversation", "claude-1", func(_ *anthropic.Config, r *model.Request) { r.Messages = r.Messages[1:] }, thoughtless},
		{"fewer tools", "claude-1", func(_ *anthropic.Config, r *model.Request) { r.Tools = r.Tools[:1] }, thoughtless},
		{"another text of the reply", "claude-1", func(_ *anthropic.Config, r *model.Request) { r.Messages[2].Text = model.Text{"I see."} }, thoughtless},
		{"a longer text of the reply", "claude-1", func(_ *anthropic.Config, r *model.Request) { r.Messages[2].Text = model.Text{"I look. Well."} }, thoughtless},
		{"thinking is off", "claude-1", func(c *anthropic.Config, _ *model.Request) { c.Thinking = "disabled" }, thoughtless},
		{"of another provider", "claude-1", func(_ *anthropic.Config, r *model.Request) {
			r.Messages[2].Calls[0].Opaque = json.RawMessage(`{"gemini":"c2ln"}`)
		}, thoughtless},
		{"unreadable", "claude-1", func(_ *anthropic.Config, r *model.Request) { r.Messages[2].Calls[0].Opaque = json.RawMessage(`"x"`) }, thoughtless},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, req := defaults(), answered(t, defaults(), first(), "thinking_tools.json")
			tt.change(&c, req)
			if got, _ := turns(t, c, tt.model, req); len(got) != 1 || got[0] != tt.want {
				t.Errorf("sent %q, want %q", got, tt.want)
			}
		})
	}
}

func TestThinkingOfAToolLoopIsKeptOrDroppedAsAWhole(t *testing.T) {
	c := defaults()
	c.ThinkingBudget = 2048
	req := answered(t, c, answered(t, c, first(), "thinking_tools.json"), "thinking_tools.json")
	budget := map[string]any{"type": "enabled", "budget_tokens": 2048.0}
	got, thinking := turns(t, c, "claude-1", req)
	if diff := cmp.Diff([]any{[]string{thoughtful, thoughtful}, budget}, []any{got, thinking}, cmp.Comparer(func(a, b map[string]any) bool {
		return cmp.Equal(a["budget_tokens"], b["budget_tokens"])
	})); diff != "" {
		t.Error(diff)
	}
	// The API rejects a thinking budget if the turn starts without its thinking, so both are
	// dropped until the next question.
	req.Messages[1] = say(model.User, "Hm?")
	if got, thinking = turns(t, c, "claude-1", req); got[0] != thoughtless || got[1] != thoughtless || thinking != nil {
		t.Errorf("sent %q, thinking %v", got, thinking)
	}
	req.Messages = append(req.Messages, say(model.User, "And now?"))
	if got, thinking = turns(t, c, "claude-1", req); got[1] != thoughtless || thinking == nil {
		t.Errorf("after the next question: sent %q, thinking %v", got, thinking)
	}
}

func TestBudgetOfTheRunReducesThinking(t *testing.T) {
	tests := []struct {
		name    string
		output  int
		bounded bool
		budget  any
	}{
		{"enough", 9000, true, 4000.0},
		{"half of what is left", 4000, true, 2000.0},
		{"too little to think", 2000, true, nil},
		{"as the spec says", 4001, false, 4000.0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := defaults()
			c.ThinkingBudget = 4000
			zero := 0.0
			req := *question
			req.Params, req.Bounded = model.Params{MaxOutputTokens: tt.output, Temperature: &zero}, tt.bounded
			raw, _ := sent(t, c, model.Settings{}, &req, nil)
			got := fields(t, raw)
			thinking, _ := got["thinking"].(map[string]any)
			if thinking["budget_tokens"] != tt.budget || got["max_tokens"] != float64(tt.output) {
				t.Errorf("thinking %v of max_tokens %v", thinking, got["max_tokens"])
			}
			if _, sampled := got["temperature"]; sampled != (tt.budget == nil) {
				t.Errorf("temperature %v beside thinking %v", got["temperature"], thinking)
			}
		})
	}
}
