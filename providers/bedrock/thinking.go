package bedrock

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/pexctl/pex/engine/model"
)

const leastBudget = 1024 // of thinking, says Anthropic

// additional writes the fields that are the model's own.
func (w *writer) additional() error {
	fields := map[string]any{}
	if recent(w.base) && len(w.req.Tools) > 0 && !w.req.ParallelTools && w.answer == "" {
		fields["tool_choice"] = map[string]any{"type": "auto", "disable_parallel_tool_use": true}
	}
	maps.Copy(fields, w.config.Extra)
	delete(fields, "thinking")
	if w.thinking != nil {
		fields["thinking"] = w.thinking
	}
	if len(fields) == 0 {
		return nil
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return fmt.Errorf("options.extra: %w", err)
	}
	w.in.AdditionalModelRequestFields = raw(text)
	return nil
}

// think decides whether Claude may think. With a fixed budget it must have its
// thinking back before the calls that it led to; calls that come without it,
// from another model or an older recording, are answered without thinking.
func (w *writer) think() {
	w.thinking = w.config.Extra["thinking"]
	if w.thinking == nil {
		if n := w.budget(); n >= leastBudget {
			w.thinking = map[string]any{"type": "enabled", "budget_tokens": n}
		}
	}
	if options, ok := w.thinking.(map[string]any); ok && options["type"] == "enabled" {
		w.fixed = true
	}
	if w.fixed && w.unthought {
		w.thinking, w.fixed = nil, false
	}
}

// budget is the author's, or half of a smaller limit of the whole output.
func (w *writer) budget() int {
	n, most := w.config.ThinkingBudget, w.req.Params.MaxOutputTokens
	if most > 0 && n >= most {
		return most / 2
	}
	return n
}

// kept is what a tool call remembers of its model's thinking.
type kept struct {
	Bedrock *keptThoughts `json:"bedrock"`
}

type keptThoughts struct {
	Model    string    `json:"model"`
	Thoughts []thought `json:"thoughts"`
}

// thought is one block of thinking, as the model wants it back.
type thought struct {
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
	Redacted  []byte `json:"redacted,omitempty"`
}

// keep writes thoughts for the call that they led to; nil where the model gave
// none that it would know again.
func keep(model string, thoughts []thought) json.RawMessage {
	var signed []thought
	for _, t := range thoughts {
		if t.Signature != "" || len(t.Redacted) > 0 {
			signed = append(signed, t)
		}
	}
	if signed == nil {
		return nil
	}
	text, err := json.Marshal(kept{&keptThoughts{model, signed}})
	if err != nil {
		return nil
	}
	return text
}

// thoughts are the blocks to send before a call. Only the model that thought
// them can read them.
func (w *writer) thoughts(c model.ToolCall) []types.ContentBlock {
	var k kept
	if len(c.Opaque) == 0 || json.Unmarshal(c.Opaque, &k) != nil || k.Bedrock == nil || k.Bedrock.Model != w.id {
		return nil
	}
	var out []types.ContentBlock
	for _, t := range k.Bedrock.Thoughts {
		out = append(out, &types.ContentBlockMemberReasoningContent{Value: t.block()})
	}
	return out
}

func (t thought) block() types.ReasoningContentBlock {
	if len(t.Redacted) > 0 {
		return &types.ReasoningContentBlockMemberRedactedContent{Value: t.Redacted}
	}
	return &types.ReasoningContentBlockMemberReasoningText{Value: types.ReasoningTextBlock{Text: &t.Text, Signature: &t.Signature}}
}
