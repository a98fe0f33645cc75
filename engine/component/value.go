package component

import (
	"bytes"
	"encoding/json"
)

// Value is any JSON value; its texts are templates, at whatever depth.
type Value struct {
	JSON   json.RawMessage // as written, its texts not filled
	render func(Lookup) any
}

// Bind gives a value its compiled form; for the compiler.
func (v *Value) Bind(render func(Lookup) any) { v.render = render }

// IsZero says that nothing was written; null is a value.
func (v Value) IsZero() bool { return len(v.JSON) == 0 }

// Render gives the value with its texts filled, numbers as json.Number. A text
// that is one reference and nothing else becomes what it refers to, with its
// JSON type. The caller must not change it.
func (v Value) Render(l Lookup) any {
	if v.render != nil {
		return v.render(l)
	}
	var out any
	d := json.NewDecoder(bytes.NewReader(v.JSON))
	d.UseNumber()
	// What was never compiled is a default of our own, or nothing: nil.
	_ = d.Decode(&out)
	return out
}
