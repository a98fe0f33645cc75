package bedrock

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/pexctl/pex/engine/model"
)

const minThinkingBudget = 1024 // minimum thinking budget, set by Anthropic

// additional writes the model-specific fields.
func (w *writer) additional() error {
	fields := map[string]any{}
	if isRecentClaude(w.base) && len(w.req.Tools) > 0 && !w.req.ParallelTools && w.answer == "" {
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

// think decides whether Claude may think. With a fixed budget, it requires its thinking before the calls that followed.
// Calls without it, from another model or an older recording, disable thinking.
func (w *writer) think() {
	w.thinking = w.config.Extra["thinking"]
	if w.thinking == nil {
		if n := w.budget(); n >= minThinkingBudget {
			w.thinking = map[string]any{"type": "enabled", "budget_tokens": n}
		}
	}
	if options, ok := w.thinking.(map[string]any); ok && options["type"] == "enabled" {
		w.fixedBudget = true
	}
	if w.fixedBudget && w.missingThinking {
		w.thinking, w.fixedBudget = nil, false
	}
}

// budget returns the author's budget, or half of the output limit if that is not larger.
func (w *writer) budget() int {
	n, limit := w.config.ThinkingBudget, w.req.Params.MaxOutputTokens
	if limit > 0 && n >= limit {
		return limit / 2
	}
	return n
}

// opaqueData is the data that a tool call carries for its provider.
type opaqueData struct {
	Bedrock *opaqueThoughts `json:"bedrock"`
}

type opaqueThoughts struct {
	Model    string    `json:"model"`
	Thoughts []thought `json:"thoughts"`
}

// thought is one block of thinking as the model requires it back.
type thought struct {
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
	Redacted  []byte `json:"redacted,omitempty"`
}

// encodeThoughts encodes the thinking for the call that followed; nil if none of it is signed.
func encodeThoughts(model string, thoughts []thought) json.RawMessage {
	var signed []thought
	for _, t := range thoughts {
		if t.Signature != "" || len(t.Redacted) > 0 {
			signed = append(signed, t)
		}
	}
	if signed == nil {
		return nil
	}
	text, err := json.Marshal(opaqueData{&opaqueThoughts{model, signed}})
	if err != nil {
		return nil
	}
	return text
}

// thoughts returns the blocks to send before a call. Only the model that created them can read them.
func (w *writer) thoughts(c model.ToolCall) []types.ContentBlock {
	var k opaqueData
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
