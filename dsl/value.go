package dsl

import (
	"encoding/json"

	"github.com/pexctl/pex/dsl/syntax"
)

// Value is a read-only part of a spec after includes, files and overrides, for
// analyzers, diffs and editors. The zero Value is missing, and all its methods
// return zero values.
type Value struct{ v *syntax.Node }

// Place is the place of a part of a spec. Lines and columns count from 1, columns
// in characters. Line 0 means that it is not in a file: a flag, or nothing.
type Place struct {
	File   string // as the user wrote it
	Path   string // absolute; "" if it is not a file
	Line   int
	Column int
	at     syntax.Position
}

// Entry is one key of a mapping.
type Entry struct {
	Key   string
	Place Place // of the key
	Value Value
}

// Tree returns the whole spec.
func (s *Spec) Tree() Value { return Value{s.tree} }

// LLM returns the entry of an LLM of the program, by its name there, with the
// overrides of a role applied. It is missing if there is none.
func (s *Spec) LLM(name string) Value { return Value{s.llms[name]} }

// Agents returns the specs of the agents that it calls, as tools and nodes, and
// of those in its file that nothing calls. A spec that is called twice occurs
// twice.
func (s *Spec) Agents() []*Spec { return s.agents }

// Get returns the value at a path of keys, or a missing value. A null exists.
func (v Value) Get(keys ...string) Value {
	at := v.v
	for _, key := range keys {
		e := at.Find(key)
		if e == nil {
			return Value{}
		}
		at = e.Value
	}
	return Value{at}
}

// Exists reports whether there is a value, including null.
func (v Value) Exists() bool { return v.v != nil }

// Entries returns the entries of a mapping, in order.
func (v Value) Entries() []Entry {
	if v.v == nil {
		return nil
	}
	out := make([]Entry, len(v.v.Entries))
	for i, e := range v.v.Entries {
		out[i] = Entry{e.Key, shownPlace(e.Position), Value{e.Value}}
	}
	return out
}

// Items returns the items of a list.
func (v Value) Items() []Value {
	if v.v == nil {
		return nil
	}
	out := make([]Value, len(v.v.Items))
	for i, it := range v.v.Items {
		out[i] = Value{it}
	}
	return out
}

// IsText reports whether the value is text.
func (v Value) IsText() bool { return v.v != nil && v.v.Kind == syntax.Text }

// IsList reports whether the value is a list.
func (v Value) IsList() bool { return v.v != nil && v.v.Kind == syntax.List }

// IsMapping reports whether the value is a mapping.
func (v Value) IsMapping() bool { return v.v != nil && v.v.Kind == syntax.Map }

// IsNull reports whether the value exists and is null.
func (v Value) IsNull() bool { return v.v != nil && v.v.Kind == syntax.Null }

// Text returns a scalar as written, or "" for other values.
func (v Value) Text() string {
	if v.v == nil {
		return ""
	}
	return v.v.Text
}

// JSON returns the value as JSON, with keys in order, or nil if it is missing.
func (v Value) JSON() json.RawMessage {
	if v.v == nil {
		return nil
	}
	return v.v.AppendJSON(nil)
}

// Place returns the start of the value.
func (v Value) Place() Place {
	if v.v == nil {
		return Place{}
	}
	return shownPlace(v.v.Position)
}

// Within returns the place of a byte offset in a text, such as an expression or a
// prompt.
func (v Value) Within(offset int) Place {
	if v.v == nil {
		return Place{}
	}
	return shownPlace(v.v.PositionAt(offset))
}

func shownPlace(p syntax.Position) Place {
	out := Place{at: p}
	if p.Source == nil {
		return out
	}
	if out.File = p.Source.Name; p.Source.IsFile() {
		out.Path, out.Line, out.Column = p.Source.Path, p.Line, p.Column
	}
	return out
}

// Pointed returns the target of a JSON pointer, or the last existing value on the
// way.
func (v Value) Pointed(pointer string) Value {
	if v.v == nil {
		return v
	}
	return Value{v.v.Pointed(pointer)}
}
