package openai

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/modelhttp"
)

// accumulator assembles a reply from the chunks of a stream.
type accumulator struct {
	modelhttp.Stream
	started bool // a chunk has arrived
	raw     rawReply
	text    strings.Builder
	refusal strings.Builder
	calls   []*partialCall
	byIndex map[int64]*partialCall
}

// partialCall is a tool call that may be incomplete.
type partialCall struct {
	id, name string
	args     strings.Builder
}

// streamError is an error that the server sent as an event of a stream.
type streamError struct{ body []byte }

// Error implements error.
func (e *streamError) Error() string { return "error in the stream: " + httpclient.Explain(e.body) }

// add adds a chunk. It ignores all choices but the first: requests ask for one.
func (a *accumulator) add(data []byte) error {
	a.started = true
	c, err := decode(data)
	if err != nil {
		return modelhttp.Bad("the server's reply cannot be read: %s", err)
	}
	if c.failed() {
		return &streamError{data}
	}
	a.raw.id, a.raw.model = cmp.Or(a.raw.id, c.ID), cmp.Or(a.raw.model, c.Model)
	if c.Usage != nil {
		a.raw.usage = c.Usage.tokens()
	}
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			continue
		}
		if choice.FinishReason != "" {
			a.raw.finish, a.raw.stopSequence = choice.FinishReason, bool(choice.StopReason)
		}
		if err := a.delta(&choice.Delta); err != nil {
			return err
		}
	}
	return nil
}

func (a *accumulator) delta(d *replyMessage) error {
	text, thinking, err := d.content()
	if err != nil {
		return err
	}
	if err := a.Grow(len(text) + len(d.Refusal)); err != nil {
		return err
	}
	a.text.WriteString(text)
	a.refusal.WriteString(d.Refusal)
	for i := range d.ToolCalls {
		if err := a.call(&d.ToolCalls[i]); err != nil {
			return err
		}
	}
	if len(d.ToolCalls) > 0 {
		a.RecordFirst()
	}
	a.Emit(model.Delta{Text: text, Reasoning: cmp.Or(thinking, d.ReasoningContent, d.Reasoning)})
	return nil
}

// call adds a part of a tool call to the call that it belongs to.
func (a *accumulator) call(d *replyToolCall) error {
	p := a.find(d)
	if p == nil {
		if len(a.calls) == modelhttp.MaxCalls {
			return modelhttp.Bad("more than %d tool calls in one reply", modelhttp.MaxCalls)
		}
		p = &partialCall{}
		a.calls = append(a.calls, p)
	}
	if d.Index != nil {
		if a.byIndex == nil {
			a.byIndex = map[int64]*partialCall{}
		}
		a.byIndex[*d.Index] = p
	}
	if p.id == "" {
		p.id = d.ID
	}
	// Servers send the name once, again with each part, or in parts.
	if d.Function.Name != p.name {
		p.name += d.Function.Name
	}
	if len(p.name) > modelhttp.MaxName {
		return modelhttp.Bad("the name of a tool call is longer than %d bytes", modelhttp.MaxName)
	}
	p.args.WriteString(string(d.Function.Arguments))
	return a.Grow(len(d.Function.Arguments))
}

// find returns the call that a part continues, or nil for a new call. The index decides,
// unless a new id shows that the server does not count. Without an index, the id decides.
// Without both, a part with a name starts a new call if the arguments of the previous one
// are complete.
func (a *accumulator) find(d *replyToolCall) *partialCall {
	if d.Index != nil {
		p := a.byIndex[*d.Index]
		if p != nil && d.ID != "" && p.id != "" && p.id != d.ID && d.Function.Name != "" {
			return nil
		}
		return p
	}
	if d.ID != "" {
		for _, p := range a.calls {
			if p.id == d.ID {
				return p
			}
		}
		return nil
	}
	if len(a.calls) == 0 {
		return nil
	}
	last := a.calls[len(a.calls)-1]
	args := last.args.String()
	if d.Function.Name != "" && strings.HasSuffix(strings.TrimSpace(args), "}") && json.Valid([]byte(args)) {
		return nil
	}
	return last
}

// reply returns the reply at the end of the stream. Without a finish reason, the stream
// is incomplete.
func (a *accumulator) reply() (*model.Reply, error) {
	if a.raw.finish == "" {
		return nil, &model.Error{Kind: model.Truncated, Message: "the stream ended before the reply was complete: no finish_reason"}
	}
	a.raw.text, a.raw.refusal = a.text.String(), a.refusal.String()
	for _, p := range a.calls {
		a.raw.calls = append(a.raw.calls, model.ToolCall{ID: p.id, Name: p.name, Args: json.RawMessage(p.args.String())})
	}
	return a.Complete(a.raw.reply())
}
