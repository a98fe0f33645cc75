package anthropic

import (
	"encoding/json"
	"fmt"

	"github.com/pexctl/pex/engine/model"
)

// minBudget is the smallest thinking budget that the API accepts.
const minBudget = 1024

// thinking says how the model thinks in one call.
type thinking struct {
	mode     string // as in the Config
	budget   int64  // tokens, for models that require a budget; 0 = none
	output   int64  // limit of output tokens
	restored bool   // earlier thinking is sent back
}

// thinking returns how the model thinks in a call. If a budget of the run leaves less room
// than the spec, the model thinks less.
func (m *chatModel) thinking(req *model.Request) (thinking, error) {
	t := thinking{mode: m.config.Thinking, budget: int64(m.config.ThinkingBudget), output: int64(req.Params.MaxOutputTokens)}
	t.restored = t.mode != "disabled"
	switch {
	case t.output == 0:
		t.output = defaultOutput + t.budget
	case t.budget < t.output:
	case !req.Bounded:
		return t, fmt.Errorf("max_output_tokens %d must be larger than thinking_budget %d, which counts towards it", t.output, t.budget)
	default:
		t.budget = t.output / 2
	}
	if m.config.ThinkingBudget > 0 && t.budget < minBudget {
		t.budget, t.restored = 0, false
	}
	return t, nil
}

// fixesSampling reports whether the API accepts no temperature and top_p.
func (t thinking) fixesSampling() bool { return t.budget > 0 || t.mode == "adaptive" }

func (t thinking) write(r *messageRequest) {
	r.MaxTokens = t.output
	switch {
	case t.budget > 0:
		r.Thinking = &thinkingConfig{Type: "enabled", BudgetTokens: t.budget}
	case t.mode != "":
		r.Thinking = &thinkingConfig{Type: t.mode}
	}
}

// opaque is stored in model.ToolCall.Opaque of a reply's first call. The field name
// distinguishes it from what other providers store there.
type opaque struct {
	Anthropic *savedThinking `json:"anthropic,omitempty"`
}

// savedThinking is the thinking of a reply: its blocks in their order, and the digest of
// the conversation before it.
type savedThinking struct {
	After  string       `json:"after"`
	Blocks []savedBlock `json:"blocks"`
}

// savedBlock is a block of a reply. The engine stores texts and calls: a text is saved as
// its length, and a call as its position.
type savedBlock struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Data      string `json:"data,omitempty"`
	Bytes     int    `json:"bytes,omitempty"`
}

// saveThinking stores a reply's thinking in its first call.
func saveThinking(calls []model.ToolCall, blocks []savedBlock, after string) error {
	thought := false
	for _, b := range blocks {
		thought = thought || b.Type == typeThinking || b.Type == typeRedacted
	}
	if !thought || len(calls) == 0 {
		return nil
	}
	text, err := json.Marshal(opaque{&savedThinking{after, blocks}})
	calls[0].Opaque = text
	return err
}

// restoreThinking returns the original blocks of a reply, with its thinking. ok is false
// if there was none, or if the reply or the conversation before it has changed: the API
// would reject signed thinking there.
func restoreThinking(calls []model.ToolCall, text, after string) (blocks []*requestBlock, ok bool) {
	var o opaque
	if len(calls) == 0 || len(calls[0].Opaque) == 0 || json.Unmarshal(calls[0].Opaque, &o) != nil {
		return nil, false
	}
	if o.Anthropic == nil || o.Anthropic.After != after {
		return nil, false
	}
	for i := range o.Anthropic.Blocks {
		switch b := &o.Anthropic.Blocks[i]; b.Type {
		case typeThinking:
			blocks = append(blocks, &requestBlock{Type: typeThinking, Thinking: &b.Thinking, Signature: &b.Signature})
		case typeRedacted:
			blocks = append(blocks, &requestBlock{Type: typeRedacted, Data: b.Data})
		case typeText:
			if b.Bytes < 0 || b.Bytes > len(text) {
				return nil, false
			}
			if !blank(text[:b.Bytes]) {
				blocks = append(blocks, textBlock(text[:b.Bytes]))
			}
			text = text[b.Bytes:]
		case typeCall:
			if len(calls) == 0 {
				return nil, false
			}
			blocks, calls = append(blocks, callBlock(calls[0])), calls[1:]
		}
	}
	return blocks, text == "" && len(calls) == 0
}
