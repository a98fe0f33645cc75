package redact

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/tool"
)

// Mask redacts secrets. The zero Mask redacts nothing. Safe for concurrent use.
type Mask struct{ secrets *secret.Values }

// New returns a Mask; secrets may be nil.
func New(secrets *secret.Values) Mask { return Mask{secrets} }

// Text redacts a text.
func (m Mask) Text(s string) string {
	clean, _ := m.secrets.Text(s)
	return clean
}

// written redacts a text that may be JSON, which stays valid.
func (m Mask) written(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		if _, found := m.secrets.Text(s); !found {
			return s // and nothing is escaped, so a string of the JSON contains none either
		}
	}
	clean, found := m.secrets.JSON([]byte(s))
	if !found {
		return s
	}
	return string(clean)
}

// JSON redacts JSON, or invalid JSON as text.
func (m Mask) JSON(b json.RawMessage) json.RawMessage {
	clean, _ := m.secrets.JSON(b)
	return clean
}

// Reply redacts a reply, in a copy if anything changes. Opaque data that a provider needs
// back unchanged is dropped if it changes.
func (m Mask) Reply(r *model.Reply) *model.Reply {
	if m.secrets == nil || r == nil || m.isClean(r) {
		return r
	}
	out := *r
	out.Text, out.Model, out.ID = m.written(r.Text), m.Text(r.Model), m.Text(r.ID)
	out.Stop = model.StopReason(m.Text(string(r.Stop)))
	out.Calls = make([]model.ToolCall, len(r.Calls))
	for i, c := range r.Calls {
		out.Calls[i] = model.ToolCall{ID: m.Text(c.ID), Name: m.Text(c.Name), Args: m.JSON(c.Args), Opaque: c.Opaque}
		if _, found := m.secrets.JSON(c.Opaque); found {
			out.Calls[i].Opaque = nil
		}
	}
	if r.Calls == nil {
		out.Calls = nil
	}
	return &out
}

// isClean reports whether a reply contains no secret.
func (m Mask) isClean(r *model.Reply) bool {
	if m.written(r.Text) != r.Text || m.Text(r.Model) != r.Model || m.Text(r.ID) != r.ID || m.Text(string(r.Stop)) != string(r.Stop) {
		return false
	}
	for i := range r.Calls {
		c := &r.Calls[i]
		_, inArgs := m.secrets.JSON(c.Args)
		_, inOpaque := m.secrets.JSON(c.Opaque)
		if inArgs || inOpaque || m.Text(c.ID) != c.ID || m.Text(c.Name) != c.Name {
			return false
		}
	}
	return true
}

// Output redacts the output of a tool, in a copy if anything changes.
func (m Mask) Output(out *tool.Output) *tool.Output {
	if m.secrets == nil || out == nil {
		return out
	}
	text := m.written(out.Text)
	data, found := m.secrets.JSON(out.Data)
	if !found && text == out.Text {
		return out
	}
	return &tool.Output{Text: text, Data: data}
}

// Listing redacts a server's listing.
func (m Mask) Listing(l *tool.Listing) *tool.Listing {
	if m.secrets == nil || l == nil {
		return l
	}
	out := tool.Listing{Server: m.Text(l.Server), Tools: make([]tool.Definition, len(l.Tools))}
	for i, d := range l.Tools {
		out.Tools[i] = m.Definition(d)
	}
	for _, w := range l.Warnings {
		out.Warnings = append(out.Warnings, m.Text(w))
	}
	return &out
}

// Definition redacts a server's tool definition.
func (m Mask) Definition(d tool.Definition) tool.Definition {
	if m.secrets != nil {
		d.Name, d.Title, d.Description = m.Text(d.Name), m.Text(d.Title), m.Text(d.Description)
		d.Input, d.Output = m.JSON(d.Input), m.JSON(d.Output)
	}
	return d
}

// Error redacts a model's error. It drops the cause, which is not journaled.
func (m Mask) Error(err *model.Error) *model.Error {
	if m.secrets == nil {
		return err
	}
	out := *err
	out.Message, out.RequestID, out.Err = m.Text(err.Message), m.Text(err.RequestID), nil
	return &out
}

// Stream redacts a stream. rest passes on what was held back because a secret might have
// started there.
func (m Mask) Stream(to func(model.Delta)) (masked func(model.Delta), rest func()) {
	if m.secrets == nil || to == nil {
		return to, func() {}
	}
	text, thought := m.secrets.Stream(), m.secrets.Stream()
	send := func(d model.Delta) {
		if d != (model.Delta{}) {
			to(d)
		}
	}
	return func(d model.Delta) { send(model.Delta{Text: text.Next(d.Text), Reasoning: thought.Next(d.Reasoning)}) },
		func() { send(model.Delta{Text: text.Flush(), Reasoning: thought.Flush()}) }
}

// Model redacts the replies, streams and errors of a model. Its errors are *model.Error;
// other errors become CallTimeout if time ran out, else NetworkError.
type Model struct {
	model.Model
	Mask Mask
}

// Generate implements model.Model.
func (m Model) Generate(ctx context.Context, req *model.Request, stream func(model.Delta)) (*model.Reply, error) {
	masked, rest := m.Mask.Stream(stream)
	reply, err := m.Model.Generate(ctx, req, masked)
	rest()
	if err == nil {
		return m.Mask.Reply(reply), nil
	}
	known := model.AsError(err)
	switch {
	case known != nil:
	case errors.Is(err, context.DeadlineExceeded):
		known = &model.Error{Kind: model.CallTimeout, Message: "the call took longer than its timeout"}
	default:
		known = &model.Error{Kind: model.NetworkError, Message: err.Error()}
	}
	return nil, m.Mask.Error(known)
}
