package dsl

import (
	"encoding/json"

	"github.com/pexctl/pex/dsl/syntax"
)

// Value is a part of a spec as it is after includes, files and overrides,
// for reading: analyzers, diffs and editors go through specs by it. The zero
// Value is nothing, and so is whatever is asked of it.
type Value struct{ v *syntax.Node }

// Place is where a part of a spec is. Lines and columns count from 1,
// columns in characters; Line 0 is no place in a file: a flag, or nothing.
type Place struct {
	File   string // as people wrote it
	Path   string // absolute; "" = it is no file
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

// Tree is the whole of a spec.
func (s *Spec) Tree() Value { return Value{s.tree} }

// LLM is the entry of an llm of the program, by its name there: of one that a
// role overrides, with that laid over it. Nothing where there is none.
func (s *Spec) LLM(name string) Value { return Value{s.llms[name]} }

// Agents are the specs of the agents that it calls, as tools and nodes, and of
// those in its file that nothing calls. One that is called twice is there twice.
func (s *Spec) Agents() []*Spec { return s.agents }

// Get goes down by keys; nothing when one is missing. A null is there.
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

// Exists says whether there is a value, be it null.
func (v Value) Exists() bool { return v.v != nil }

// Entries are those of a mapping, as written.
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

// Items are those of a list.
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

// IsText says whether a value is text; of nothing it is false.
func (v Value) IsText() bool { return v.v != nil && v.v.Kind == syntax.Text }

// IsList says whether it is a list.
func (v Value) IsList() bool { return v.v != nil && v.v.Kind == syntax.List }

// IsMapping says whether it is a mapping.
func (v Value) IsMapping() bool { return v.v != nil && v.v.Kind == syntax.Map }

// IsNull says whether it is there, and a null.
func (v Value) IsNull() bool { return v.v != nil && v.v.Kind == syntax.Null }

// Text is a scalar as it was written; "" for everything else.
func (v Value) Text() string {
	if v.v == nil {
		return ""
	}
	return v.v.Text
}

// JSON is the value in JSON, keys in the order written; nil = nothing.
func (v Value) JSON() json.RawMessage {
	if v.v == nil {
		return nil
	}
	return v.v.AppendJSON(nil)
}

// Place is where the value begins.
func (v Value) Place() Place {
	if v.v == nil {
		return Place{}
	}
	return shownPlace(v.v.Position)
}

// Within is the place of a byte offset in a text: of an expression, a prompt.
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

// Pointed is the value that a JSON pointer leads to, or the last on the way.
func (v Value) Pointed(pointer string) Value {
	if v.v == nil {
		return v
	}
	return Value{v.v.Pointed(pointer)}
}
