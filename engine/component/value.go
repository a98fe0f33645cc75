package component

import (
	"bytes"
	"encoding/json"
)

// Value is any JSON value whose strings are templates, at any depth.
type Value struct {
	JSON   json.RawMessage // as written, not rendered
	render func(Lookup) any
}

// Bind sets the compiled form; for the compiler.
func (v *Value) Bind(render func(Lookup) any) { v.render = render }

// IsZero reports whether nothing was written; null is a value.
func (v Value) IsZero() bool { return len(v.JSON) == 0 }

// Render returns the value with its strings rendered and numbers as json.Number. A string
// that is exactly one reference becomes the value with its JSON type. The caller must not
// modify the result.
func (v Value) Render(l Lookup) any {
	if v.render != nil {
		return v.render(l)
	}
	var out any
	d := json.NewDecoder(bytes.NewReader(v.JSON))
	d.UseNumber()
	// An uncompiled value is our own default, or empty: nil.
	_ = d.Decode(&out)
	return out
}
