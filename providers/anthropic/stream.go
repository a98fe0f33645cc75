package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/providers/modelhttp"
)

// gather puts a reply together from the events of a stream.
type gather struct {
	modelhttp.Stream
	ask     *ask
	seen    bool // an event came
	done    bool // the last one came
	draft   draft
	open    []*partial
	byIndex map[int64]*partial
}

// partial is a block of which more may come.
type partial struct {
	block
	text      strings.Builder
	signature strings.Builder
}

// add takes one event. The name of its type stands in its data; a gateway may
// leave out the other.
func (g *gather) add(e ssestream.Event) error {
	data := bytes.TrimSpace(e.Data)
	if len(data) == 0 || e.Type == "ping" {
		return nil
	}
	g.seen = true
	var event sdk.MessageStreamEventUnion
	if err := json.Unmarshal(data, &event); err != nil && e.Type != "error" {
		return modelhttp.Bad("an event of the stream cannot be read: %.200s", data)
	}
	if e.Type == "error" || event.Type == "error" {
		return reported(data)
	}
	switch event.Type {
	case "message_start":
		m := event.Message
		g.draft.id, g.draft.model, g.draft.usage = m.ID, m.Model, counted(m.Usage)
	case "content_block_start":
		return g.begin(event)
	case "content_block_delta":
		return g.delta(event)
	case "message_delta":
		g.ended(event)
	case "message_stop":
		g.done = true
	}
	return nil
}

// begin opens a block.
func (g *gather) begin(e sdk.MessageStreamEventUnion) error {
	b := e.ContentBlock
	p := &partial{block: block{kind: b.Type, id: b.ID, name: b.Name, data: b.Data}}
	switch b.Type {
	case typeText:
		p.text.WriteString(b.Text)
		g.tell(model.Delta{Text: b.Text})
	case typeThinking:
		p.text.WriteString(b.Thinking)
		p.signature.WriteString(b.Signature)
		g.tell(model.Delta{Reasoning: b.Thinking})
	case typeCall:
		if args := b.JSON.Input.Raw(); strings.Trim(args, "{} \n") != "" && args != "null" { // whole at once
			p.text.WriteString(args)
			g.argue(p, args)
		}
		g.Arrived()
	}
	if len(g.open) == modelhttp.MaxCalls*4 {
		return modelhttp.Bad("more than %d blocks in one reply", modelhttp.MaxCalls*4)
	}
	g.open = append(g.open, p)
	if g.byIndex == nil {
		g.byIndex = map[int64]*partial{}
	}
	g.byIndex[e.Index] = p
	return nil
}

// delta adds a piece to the block that it belongs to.
func (g *gather) delta(e sdk.MessageStreamEventUnion) error {
	p := g.byIndex[e.Index]
	if p == nil {
		return modelhttp.Bad("a piece came of block %d, which was not begun", e.Index)
	}
	d := e.Delta
	if err := g.Grow(len(d.Text) + len(d.Thinking) + len(d.Signature) + len(d.PartialJSON)); err != nil {
		return err
	}
	switch d.Type {
	case "text_delta":
		if !isText(d.JSON.Text) {
			return modelhttp.Bad("a piece of text is none: %.100s", d.JSON.Text.Raw())
		}
		p.text.WriteString(d.Text)
		g.tell(model.Delta{Text: d.Text})
	case "thinking_delta":
		p.text.WriteString(d.Thinking)
		g.tell(model.Delta{Reasoning: d.Thinking})
	case "signature_delta":
		p.signature.WriteString(d.Signature)
	case "input_json_delta":
		p.text.WriteString(d.PartialJSON)
		g.argue(p, d.PartialJSON)
		g.Arrived()
	}
	return nil
}

// argue shows the arguments of the call that stands for a reply.
func (g *gather) argue(p *partial, args string) {
	if g.ask.forced != "" && p.name == g.ask.forced && args != "" {
		g.Show(model.Delta{Text: args})
	}
}

// tell shows a piece. Text beside the call that stands for a reply is no part of it.
func (g *gather) tell(d model.Delta) {
	if g.ask.forced != "" {
		d.Text = ""
	}
	g.Show(d)
}

// ended takes the reason of the end, and the usage, which counts up.
func (g *gather) ended(e sdk.MessageStreamEventUnion) {
	if e.Delta.StopReason != "" {
		g.draft.stop, g.draft.why = string(e.Delta.StopReason), e.Delta.StopDetails.Explanation
	}
	u, have := e.Usage, &g.draft.usage
	for _, n := range []struct {
		sent int64
		have *int64
	}{
		{u.InputTokens, &have.input},
		{u.CacheReadInputTokens, &have.read},
		{u.CacheCreationInputTokens, &have.written},
		{u.OutputTokens, &have.output},
		{u.OutputTokensDetails.ThinkingTokens, &have.thought},
	} {
		if n.sent != 0 {
			*n.have = n.sent
		}
	}
}

// reply is what came, once the stream has ended. A stream that ends without its
// last event was cut.
func (g *gather) reply() (*model.Reply, error) {
	if !g.done {
		return nil, &model.Error{Kind: model.Truncated, Message: "the stream ended before the reply did: no message_stop came"}
	}
	for _, p := range g.open {
		p.block.text, p.block.signature = p.text.String(), p.signature.String()
		g.draft.blocks = append(g.draft.blocks, p.block)
	}
	return g.Ended(g.draft.reply(g.ask))
}
