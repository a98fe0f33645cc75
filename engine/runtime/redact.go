package runtime

import (
	"encoding/json"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/tool"
)

// mask takes secrets out of what enters a run from outside: replies of models,
// outputs of tools, their failures, and what both tell while they are at work.
// It is done in the effect, before its result is journaled, so that nothing
// behind it holds one, and a run that is resumed sees what it saw. The zero mask
// takes nothing out.
type mask struct{ secrets *secret.Values }

func (m mask) text(s string) string {
	clean, _ := m.secrets.Text(s)
	return clean
}

// written masks a text that may be JSON: it stays JSON if it is.
func (m mask) written(s string) string {
	clean, found := m.secrets.JSON([]byte(s))
	if !found {
		return s
	}
	return string(clean)
}

// raw masks JSON, or the text that stands where JSON should.
func (m mask) raw(b json.RawMessage) json.RawMessage {
	clean, _ := m.secrets.JSON(b)
	return clean
}

// reply masks a reply, in a copy where anything changes. What a provider wants
// back as it was is of no use to it once changed: it is left out.
func (m mask) reply(r *model.Reply) *model.Reply {
	if m.secrets == nil || r == nil {
		return r
	}
	out := *r
	out.Text, out.Model, out.ID = m.written(r.Text), m.text(r.Model), m.text(r.ID)
	out.Stop = model.StopReason(m.text(string(r.Stop)))
	out.Calls = make([]model.ToolCall, len(r.Calls))
	for i, c := range r.Calls {
		out.Calls[i] = model.ToolCall{ID: m.text(c.ID), Name: m.text(c.Name), Args: m.raw(c.Args), Opaque: c.Opaque}
		if _, found := m.secrets.JSON(c.Opaque); found {
			out.Calls[i].Opaque = nil
		}
	}
	if r.Calls == nil {
		out.Calls = nil
	}
	return &out
}

// output masks what a tool gave.
func (m mask) output(out *tool.Output) *tool.Output {
	if m.secrets == nil || out == nil {
		return out
	}
	return &tool.Output{Text: m.written(out.Text), Data: m.raw(out.Data)}
}

// listing masks what a server said of its tools.
func (m mask) listing(l *tool.Listing) *tool.Listing {
	if m.secrets == nil || l == nil {
		return l
	}
	out := tool.Listing{Server: m.text(l.Server), Tools: make([]tool.Definition, len(l.Tools))}
	for i, d := range l.Tools {
		out.Tools[i] = m.definition(d)
	}
	for _, w := range l.Warnings {
		out.Warnings = append(out.Warnings, m.text(w))
	}
	return &out
}

func (m mask) definition(d tool.Definition) tool.Definition {
	if m.secrets != nil {
		d.Name, d.Title, d.Description = m.text(d.Name), m.text(d.Title), m.text(d.Description)
		d.Input, d.Output = m.raw(d.Input), m.raw(d.Output)
	}
	return d
}

// failed masks a model's error as the journal keeps it. The cause is left out:
// nobody behind the journal knows it.
func (m mask) failed(err *model.Error) *model.Error {
	if m.secrets == nil {
		return err
	}
	out := *err
	out.Message, out.RequestID, out.Err = m.text(err.Message), m.text(err.RequestID), nil
	return &out
}

// deltas masks a stream for those who watch it. rest passes on what was held
// back, since a secret might have begun there.
func (m mask) deltas(to func(model.Delta)) (masked func(model.Delta), rest func()) {
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
		func() { send(model.Delta{Text: text.Rest(), Reasoning: thought.Rest()}) }
}
