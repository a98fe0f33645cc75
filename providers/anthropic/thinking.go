package anthropic

import (
	"encoding/json"
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/pexctl/pex/engine/model"
)

// minBudget is the least that the API lets a model think.
const minBudget = 1024

// thinking is how a model is to think in one call.
type thinking struct {
	mode    string // as in the Config
	budget  int64  // for models that are given one; 0 = none
	output  int64
	carried bool // earlier thinking is sent back
}

// thinking finds how the model is to think in a call. A budget of the run may
// leave less room than the spec gave, and then the model thinks less.
func (m *chatModel) thinking(req *model.Request) (thinking, error) {
	t := thinking{mode: m.config.Thinking, budget: int64(m.config.ThinkingBudget), output: int64(req.Params.MaxOutputTokens)}
	t.carried = t.mode != "disabled"
	switch {
	case t.output == 0:
		t.output = defaultOutput + t.budget
	case t.budget < t.output:
	case !req.Bounded:
		return t, fmt.Errorf("max_output_tokens %d leaves no room beside thinking_budget %d, which counts towards it: raise it", t.output, t.budget)
	default:
		t.budget = t.output / 2
	}
	if m.config.ThinkingBudget > 0 && t.budget < minBudget {
		t.budget, t.carried = 0, false
	}
	return t, nil
}

// samples says that the API chooses the sampling itself, beside thinking.
func (t thinking) samples() bool { return t.budget > 0 || t.mode == "adaptive" }

func (t thinking) write(p *sdk.MessageNewParams) {
	p.MaxTokens = t.output
	switch {
	case t.budget > 0:
		p.Thinking = sdk.ThinkingConfigParamOfEnabled(t.budget)
	case t.mode == "adaptive":
		p.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{}
	case t.mode == "between_tools":
		between := sdk.NewThinkingConfigBetweenToolsParam()
		p.Thinking.OfBetweenTools = &between
	case t.mode == "disabled":
		disabled := sdk.NewThinkingConfigDisabledParam()
		p.Thinking.OfDisabled = &disabled
	}
}

// opaque is what a reply's first call carries in model.ToolCall.Opaque. The
// name keeps it apart from what other providers put there.
type opaque struct {
	Anthropic *memory `json:"anthropic,omitempty"`
}

// memory is the thinking of a reply: its blocks in the order in which they came,
// and a digest of the conversation that they came after.
type memory struct {
	After  string  `json:"after"`
	Blocks []piece `json:"blocks"`
}

// piece is a block of a reply. Texts and calls are kept by the engine: of a text
// only its length stands here, of a call its place.
type piece struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Data      string `json:"data,omitempty"`
	Bytes     int    `json:"bytes,omitempty"`
}

// remember lays a reply's thinking into its first call.
func remember(calls []model.ToolCall, pieces []piece, after string) error {
	thought := false
	for _, p := range pieces {
		thought = thought || p.Type == typeThinking || p.Type == typeRedacted
	}
	if !thought || len(calls) == 0 {
		return nil
	}
	text, err := json.Marshal(opaque{&memory{after, pieces}})
	calls[0].Opaque = text
	return err
}

// recall gives a reply's blocks as they came, with its thinking. ok is false where
// there was none, or where the reply or the conversation before it is not what
// it was: signed thinking would be refused there.
func recall(calls []model.ToolCall, text, after string) (blocks []sdk.ContentBlockParamUnion, ok bool) {
	var o opaque
	if len(calls) == 0 || len(calls[0].Opaque) == 0 || json.Unmarshal(calls[0].Opaque, &o) != nil {
		return nil, false
	}
	if o.Anthropic == nil || o.Anthropic.After != after {
		return nil, false
	}
	for _, p := range o.Anthropic.Blocks {
		switch p.Type {
		case typeThinking:
			blocks = append(blocks, sdk.NewThinkingBlock(p.Signature, p.Thinking))
		case typeRedacted:
			blocks = append(blocks, sdk.NewRedactedThinkingBlock(p.Data))
		case typeText:
			if p.Bytes < 0 || p.Bytes > len(text) {
				return nil, false
			}
			if !blank(text[:p.Bytes]) {
				blocks = append(blocks, sdk.NewTextBlock(text[:p.Bytes]))
			}
			text = text[p.Bytes:]
		case typeCall:
			if len(calls) == 0 {
				return nil, false
			}
			blocks, calls = append(blocks, callBlock(calls[0])), calls[1:]
		}
	}
	return blocks, text == "" && len(calls) == 0
}
