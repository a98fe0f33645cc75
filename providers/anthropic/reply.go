package anthropic

import (
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/respjson"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// The types of the blocks of a reply that count. Others are passed over.
const (
	typeText     = "text"
	typeThinking = "thinking"
	typeRedacted = "redacted_thinking"
	typeCall     = "tool_use"
)

// draft is a reply as the server wrote it.
type draft struct {
	id, model string
	blocks    []block
	stop      string
	why       string // the server's explanation of a refusal
	usage     usage
}

// block is a part of a reply.
type block struct {
	kind      string
	text      string // of a text, a thinking, or the arguments of a call
	signature string // of a thinking
	data      string // of a redacted thinking
	id, name  string // of a call
}

// usage is what the server counted.
type usage struct{ input, read, written, output, thought int64 }

// answer reads a whole body.
func (a *ask) answer(body []byte) (*model.Reply, error) {
	var c sdk.Message
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, modelhttp.Bad("the server's answer is no JSON: %s", modelhttp.ErrorBody(body))
	}
	if fault, ok := c.JSON.ExtraFields["error"]; ok && fault.Raw() != "null" {
		return nil, reported(body)
	}
	if !c.JSON.Content.Valid() {
		return nil, modelhttp.Bad("the server's answer has no content: %s", modelhttp.ErrorBody(body))
	}
	d := draft{id: c.ID, model: c.Model, stop: string(c.StopReason), why: c.StopDetails.Explanation, usage: counted(c.Usage)}
	for _, b := range c.Content {
		out := block{kind: b.Type, text: b.Text, signature: b.Signature, data: b.Data, id: b.ID, name: b.Name}
		switch b.Type {
		case typeText:
			if !isText(b.JSON.Text) {
				return nil, modelhttp.Bad("the text of a block is none: %.100s", b.JSON.Text.Raw())
			}
		case typeThinking:
			out.text = b.Thinking
		case typeCall:
			out.text = string(b.Input)
		}
		d.blocks = append(d.blocks, out)
	}
	return d.reply(a)
}

// isText says that a field, where there is one, holds a string: the SDK takes
// numbers and objects for text.
func isText(f respjson.Field) bool {
	return f.Raw() == "" || f.Raw() == "null" || strings.HasPrefix(f.Raw(), `"`)
}

// reply makes the engine's reply of a draft.
func (d *draft) reply(a *ask) (*model.Reply, error) {
	out := &model.Reply{ID: d.id, Model: d.model}
	pieces, err := d.read(a, out)
	if err != nil {
		return nil, err
	}
	if out.Stop, err = d.stopped(len(out.Calls) > 0); err != nil {
		return nil, err
	}
	if out.Stop == model.Refusal && out.Text == "" {
		out.Text = d.why
	}
	if err := remember(out.Calls, pieces, a.prefix); err != nil {
		return nil, modelhttp.Bad("the model's thinking cannot be kept: %s", err)
	}
	out.Usage = d.usage.tokens()
	return out, nil
}

// read divides the blocks of a draft into text and calls, and notes their order.
func (d *draft) read(a *ask, out *model.Reply) (pieces []piece, err error) {
	var text strings.Builder
	for _, b := range d.blocks {
		switch b.kind {
		case typeText:
			said := strings.ToValidUTF8(b.text, "\uFFFD")
			text.WriteString(said)
			pieces = append(pieces, piece{Type: typeText, Bytes: len(said)})
		case typeThinking:
			pieces = append(pieces, piece{Type: typeThinking, Thinking: b.text, Signature: b.signature})
		case typeRedacted:
			pieces = append(pieces, piece{Type: typeRedacted, Data: b.data})
		case typeCall:
			if a.forced != "" && b.name == a.forced { // the tool is a way of replying
				out.Text, out.Calls = b.text, nil
				return nil, nil
			}
			if out.Calls, err = modelhttp.AddCall(out.Calls, model.ToolCall{ID: b.id, Name: b.name, Args: json.RawMessage(b.text)}); err != nil {
				return nil, err
			}
			pieces = append(pieces, piece{Type: typeCall})
		}
	}
	out.Text = text.String()
	return pieces, nil
}

// stopped translates the reason why the model stopped. Some words are not the
// API's own: servers that put its protocol before other models pass theirs on. A
// server that does not say, or says a word of its own, has ended its turn.
func (d *draft) stopped(calls bool) (model.StopReason, error) {
	switch d.stop {
	case "max_tokens", "model_context_window_exceeded", "length":
		return model.MaxTokens, nil
	case "refusal":
		return model.Refusal, nil
	case "content_filter", "content_filtered":
		return model.ContentFiltered, nil
	case "guardrail_intervened":
		return model.Guardrail, nil
	case "pause_turn":
		return "", modelhttp.Bad("the server paused its turn to run server-side tools, which this provider does not support")
	}
	switch {
	case calls:
		return model.ToolUse, nil
	case d.stop == "stop_sequence":
		return model.StopSequence, nil
	}
	return model.EndTurn, nil
}

func counted(u sdk.Usage) usage {
	return usage{u.InputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens, u.OutputTokens, u.OutputTokensDetails.ThinkingTokens}
}

// tokens translates usage; nonsense counts as missing. The API counts what it read
// from its cache, and what it wrote there, beside the input.
func (u usage) tokens() model.Tokens {
	if !modelhttp.Plausible(u.input, u.read, u.written, u.output, u.thought) {
		return model.Tokens{}
	}
	return model.Tokens{
		Input: int(u.input + u.read + u.written), Output: int(u.output), Cached: int(u.read), CacheWrite: int(u.written),
		Reasoning: int(min(u.thought, u.output)),
	}
}
