package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// accumulator assembles a reply from the events of a stream.
type accumulator struct {
	modelhttp.Stream
	prepared *prepared
	started  bool // an event has arrived
	complete bool // the last event has arrived
	raw      rawReply
	open     []*partialBlock
	byIndex  map[int64]*partialBlock
}

// partialBlock is a block that may be incomplete.
type partialBlock struct {
	block
	text      strings.Builder
	signature strings.Builder
}

// add adds an event. Its data has its type too; some gateways send only that.
func (a *accumulator) add(e modelhttp.Event) error {
	if e.Type == "ping" {
		return nil
	}
	a.started = true
	var event streamEvent
	if err := json.Unmarshal(e.Data, &event); err != nil && !modelhttp.IsTypeError(err) && e.Type != "error" {
		return modelhttp.Bad("an event of the stream cannot be read: %.200s", e.Data)
	}
	if e.Type == "error" || event.Type == "error" {
		return reported(e.Data)
	}
	switch event.Type {
	case "message_start":
		m := &event.Message
		a.raw.id, a.raw.model, a.raw.usage = m.ID, m.Model, m.Usage
	case "content_block_start":
		return a.start(event.Index, &event.ContentBlock)
	case "content_block_delta":
		return a.delta(&event)
	case "message_delta":
		if event.Delta.StopReason != "" {
			a.raw.stop, a.raw.explanation = event.Delta.StopReason, event.Delta.StopDetails.Explanation
		}
		a.raw.usage.update(event.Usage)
	case "message_stop":
		a.complete = true
	}
	return nil
}

// start adds a block.
func (a *accumulator) start(index int64, b *replyBlock) error {
	p := &partialBlock{block: block{kind: b.Type, id: b.ID, name: b.Name, data: b.Data}}
	switch b.Type {
	case typeText:
		p.text.WriteString(b.Text.string)
		a.show(model.Delta{Text: b.Text.string})
	case typeThinking:
		p.text.WriteString(b.Thinking)
		p.signature.WriteString(b.Signature)
		a.show(model.Delta{Reasoning: b.Thinking})
	case typeCall:
		if b.hasInput() {
			p.text.Write(b.Input)
			a.showArguments(p, string(b.Input))
		}
		a.RecordFirst()
	}
	if len(a.open) == modelhttp.MaxCalls*4 {
		return modelhttp.Bad("more than %d blocks in one reply", modelhttp.MaxCalls*4)
	}
	a.open = append(a.open, p)
	if a.byIndex == nil {
		a.byIndex = map[int64]*partialBlock{}
	}
	a.byIndex[index] = p
	return nil
}

// delta adds a part of a block to the block that it belongs to.
func (a *accumulator) delta(e *streamEvent) error {
	p := a.byIndex[e.Index]
	if p == nil {
		return modelhttp.Bad("the stream continues block %d, which has not started", e.Index)
	}
	d := &e.Delta
	if err := a.Grow(len(d.Text.string) + len(d.Thinking) + len(d.Signature) + len(d.PartialJSON)); err != nil {
		return err
	}
	switch d.Type {
	case "text_delta":
		if d.Text.invalid != "" {
			return modelhttp.Bad("a text delta is not a string: %.100s", d.Text.invalid)
		}
		p.text.WriteString(d.Text.string)
		a.show(model.Delta{Text: d.Text.string})
	case "thinking_delta":
		p.text.WriteString(d.Thinking)
		a.show(model.Delta{Reasoning: d.Thinking})
	case "signature_delta":
		p.signature.WriteString(d.Signature)
	case "input_json_delta":
		p.text.WriteString(d.PartialJSON)
		a.showArguments(p, d.PartialJSON)
		a.RecordFirst()
	}
	return nil
}

// showArguments passes on arguments of the forced tool, which are the reply's text.
func (a *accumulator) showArguments(p *partialBlock, args string) {
	if forced := a.prepared.forced; forced != "" && p.name == forced && args != "" {
		a.Emit(model.Delta{Text: args})
	}
}

// show passes a delta on. With a forced tool, other text is no part of the reply.
func (a *accumulator) show(d model.Delta) {
	if a.prepared.forced != "" {
		d.Text = ""
	}
	a.Emit(d)
}

// reply returns the reply at the end of the stream. Without its last event, the stream is
// incomplete.
func (a *accumulator) reply() (*model.Reply, error) {
	if !a.complete {
		return nil, &model.Error{Kind: model.Truncated, Message: "the stream ended before the reply was complete: no message_stop"}
	}
	for _, p := range a.open {
		p.block.text, p.block.signature = p.text.String(), p.signature.String()
		a.raw.blocks = append(a.raw.blocks, p.block)
	}
	return a.Complete(a.raw.reply(a.prepared))
}
