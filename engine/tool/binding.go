package tool

import (
	"encoding/json"
)

// FitFunc checks arguments against a schema and coerces what loses nothing ("3"
// to 3). coerced lists what it changed; the error says to a model what is wrong.
type FitFunc func(args json.RawMessage) (fit json.RawMessage, coerced []ArgsRepair, err error)

// Binding is a live tool and how it is bound.
type Binding struct {
	Spec *Spec
	Tool Tool
	// Fit checks arguments against the tool's schema; nil = any fit.
	Fit FitFunc

	// FitTo makes Fit for a tool of a Toolset of its input schema.
	FitTo func(schema json.RawMessage) (FitFunc, error)
	// Pinned holds what a Toolset lists, as models will be told of it, against
	// what is pinned: an error that wraps ErrChanged refuses the run. Nil =
	// nothing is pinned.
	Pinned func(*Listing) error
}

// Info is what models and guards know of the tool: the author's description
// replaces the tool's own, under the name the spec gave it, and what the author
// fixed is no argument.
func (t *Binding) Info() Info {
	i := t.Tool.Info()
	i.Effect = t.Effect()
	if t.Spec == nil {
		return i
	}
	i.Name, i.Input = t.Spec.Name, settable(i.Input, t.Spec.With)
	if t.Spec.Description != "" {
		i.Description = t.Spec.Description
	}
	return i
}

// Effect is the author's word on the effect, else the tool's own; a tool that does
// not say may write.
func (t *Binding) Effect() Effect {
	if t.Spec != nil && t.Spec.Effect != "" {
		return t.Spec.Effect
	}
	if e := t.Tool.Info().Effect; e != "" {
		return e
	}
	return WriteEffect
}

// Fail makes the record that of a call that did not succeed.
func (rec *Record) Fail(status CallStatus, message string) {
	rec.Status, rec.Result, rec.ModelText = status, message, message
}

// Text is the record's result as a model reads it.
func (rec Record) Text() string {
	if rec.ModelText != "" {
		return rec.ModelText
	}
	switch v := rec.Result.(type) {
	case string:
		return v
	case json.RawMessage:
		return string(v)
	}
	b, _ := json.Marshal(rec.Result)
	return string(b)
}

// Value is the output as records keep it: JSON where the tool returned data, else text.
func (o *Output) Value() any {
	if len(o.Data) > 0 {
		return o.Data
	}
	return o.Text
}

// JSON is the data, or the text, as bytes.
func (o *Output) JSON() []byte {
	if len(o.Data) > 0 {
		return o.Data
	}
	return []byte(o.Text)
}

func (o *Output) String() string {
	if o.Text != "" {
		return o.Text
	}
	return string(o.Data)
}
