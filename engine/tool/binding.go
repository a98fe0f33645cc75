package tool

import (
	"encoding/json"
)

// FitFunc validates arguments against a schema and coerces values without loss ("3" to
// 3). coerced lists the changes; the error is for the model.
type FitFunc func(args json.RawMessage) (fit json.RawMessage, coerced []ArgsRepair, err error)

// Binding is a live tool with its spec.
type Binding struct {
	Spec *Spec
	Tool Tool
	// Fit validates arguments against the tool's schema; nil = accepts all.
	Fit FitFunc

	// FitTo returns the Fit of a Toolset's tool for its input schema.
	FitTo func(schema json.RawMessage) (FitFunc, error)
	// Pinned compares a Toolset's visible listing with the pinned one; an error that
	// wraps ErrChanged refuses the run. Nil = not pinned.
	Pinned func(*Listing) error
}

// Info returns the description for models and guards: with the name and description of
// the spec, and without fixed arguments.
func (t *Binding) Info() Info {
	i := t.Tool.Info()
	i.Effect = t.Effect()
	if t.Spec == nil {
		return i
	}
	i.Name, i.Input = t.Spec.Name, withoutFixed(i.Input, t.Spec.With)
	if t.Spec.Description != "" {
		i.Description = t.Spec.Description
	}
	return i
}

// Effect returns the author's declared effect, else the tool's own, else WriteEffect.
func (t *Binding) Effect() Effect {
	if t.Spec != nil && t.Spec.Effect != "" {
		return t.Spec.Effect
	}
	if e := t.Tool.Info().Effect; e != "" {
		return e
	}
	return WriteEffect
}

// Fail sets a failed outcome.
func (rec *Record) Fail(status CallStatus, message string) {
	rec.Status, rec.Result, rec.ModelText = status, message, message
}

// Text returns the result as a model reads it.
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

// Value returns the output for records: JSON if the tool returned data, else text.
func (o *Output) Value() any {
	if len(o.Data) > 0 {
		return o.Data
	}
	return o.Text
}

// JSON returns the data, or the text, as bytes.
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
