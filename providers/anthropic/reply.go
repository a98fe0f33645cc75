package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// rawReply is a reply in the server's terms.
type rawReply struct {
	id, model   string
	blocks      []block
	stop        string
	explanation string // of a refusal
	usage       usage
}

// block is a part of a reply.
type block struct {
	kind      string
	text      string // the text, the thinking, or the arguments of a call
	signature string // of thinking
	data      string // of redacted thinking
	id, name  string // of a call
}

// parseReply reads the body of a reply that is not streamed.
func (p *prepared) parseReply(body []byte) (*model.Reply, error) {
	var m message
	if err := json.Unmarshal(body, &m); err != nil && !modelhttp.IsTypeError(err) {
		return nil, modelhttp.Bad("the server's reply is not valid JSON: %s", modelhttp.ErrorBody(body))
	}
	if len(m.Error) > 0 && string(m.Error) != "null" {
		return nil, reported(body)
	}
	if m.Content == nil {
		return nil, modelhttp.Bad("the server's reply has no content: %s", modelhttp.ErrorBody(body))
	}
	r := rawReply{id: m.ID, model: m.Model, stop: m.StopReason, explanation: m.StopDetails.Explanation, usage: m.Usage}
	for i := range m.Content {
		b := &m.Content[i]
		out := block{kind: b.Type, text: b.Text.string, signature: b.Signature, data: b.Data, id: b.ID, name: b.Name}
		switch b.Type {
		case typeText:
			if b.Text.invalid != "" {
				return nil, modelhttp.Bad("the text of a block is not a string: %.100s", b.Text.invalid)
			}
		case typeThinking:
			out.text = b.Thinking
		case typeCall:
			out.text = string(b.Input)
		}
		r.blocks = append(r.blocks, out)
	}
	return r.reply(p)
}

// reply converts a reply to the engine's terms.
func (d *rawReply) reply(p *prepared) (*model.Reply, error) {
	out := &model.Reply{ID: d.id, Model: d.model}
	blocks, err := d.split(p, out)
	if err != nil {
		return nil, err
	}
	if out.Stop, err = d.stopReason(len(out.Calls) > 0); err != nil {
		return nil, err
	}
	if out.Stop == model.Refusal && out.Text == "" {
		out.Text = d.explanation
	}
	if err := saveThinking(out.Calls, blocks, p.digest); err != nil {
		return nil, modelhttp.Bad("the model's thinking cannot be stored: %s", err)
	}
	out.Usage = d.usage.tokens()
	return out, nil
}

// split divides the blocks into the text and calls of out, and returns their order.
func (d *rawReply) split(p *prepared, out *model.Reply) (blocks []savedBlock, err error) {
	var text strings.Builder
	for _, b := range d.blocks {
		switch b.kind {
		case typeText:
			valid := strings.ToValidUTF8(b.text, "\uFFFD")
			text.WriteString(valid)
			blocks = append(blocks, savedBlock{Type: typeText, Bytes: len(valid)})
		case typeThinking:
			blocks = append(blocks, savedBlock{Type: typeThinking, Thinking: b.text, Signature: b.signature})
		case typeRedacted:
			blocks = append(blocks, savedBlock{Type: typeRedacted, Data: b.data})
		case typeCall:
			if p.forced != "" && b.name == p.forced { // its arguments are the reply
				out.Text, out.Calls = b.text, nil
				return nil, nil
			}
			if out.Calls, err = modelhttp.AddCall(out.Calls, model.ToolCall{ID: b.id, Name: b.name, Args: json.RawMessage(b.text)}); err != nil {
				return nil, err
			}
			blocks = append(blocks, savedBlock{Type: typeCall})
		}
	}
	out.Text = text.String()
	return blocks, nil
}

// stopReason converts the stop reason. Some reasons are those of other models, which
// compatible servers pass on. A missing or unknown one counts as the end of the turn.
func (d *rawReply) stopReason(calls bool) (model.StopReason, error) {
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
