package syntax

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind is the kind of a value according to YAML 1.2.
type Kind int

// Kinds.
const (
	Null Kind = iota
	Bool
	Int
	Float
	Text
	List
	Map
)

// String returns the name of the kind in messages.
func (k Kind) String() string {
	return [...]string{"null", "a boolean", "an integer", "a number", "a string", "a list", "a mapping"}[k]
}

// Style is the style of a scalar.
type Style int

// Styles.
const (
	Plain Style = iota
	SingleQuoted
	DoubleQuoted
	Literal
	Folded
)

// Node is a YAML value with its position, with aliases expanded and merges
// applied. Phases modify it in place; the final tree is the resolved spec.
type Node struct {
	Position
	Kind    Kind
	Text    string // of a scalar
	Style   Style
	Comment string // on the same line
	Items   []*Node
	Entries []*Entry
}

// Entry is one key of a mapping.
type Entry struct {
	Key      string
	Position Position // of the key
	Value    *Node
}

// Find returns the entry of a key, or nil.
func (v *Node) Find(key string) *Entry {
	if v == nil || v.Kind != Map {
		return nil
	}
	i := slices.IndexFunc(v.Entries, func(e *Entry) bool { return e.Key == key })
	if i < 0 {
		return nil
	}
	return v.Entries[i]
}

// Get returns the value of a key, or nil; a null counts as not written.
func (v *Node) Get(key string) *Node {
	if e := v.Find(key); e != nil && e.Value.Kind != Null {
		return e.Value
	}
	return nil
}

// Set sets the value of a key.
func (v *Node) Set(key string, at Position, val *Node) {
	if e := v.Find(key); e != nil {
		e.Position, e.Value = at, val
		return
	}
	v.Entries = append(v.Entries, &Entry{key, at, val})
}

// Drop removes keys.
func (v *Node) Drop(keys ...string) {
	v.Entries = slices.DeleteFunc(v.Entries, func(e *Entry) bool { return slices.Contains(keys, e.Key) })
}

// Overlay returns a new mapping with the keys of v overridden by those of top,
// recursively for mappings. Other values are shared, not copied: if a later phase
// inlines a file into one, both mappings have it.
func (v *Node) Overlay(top *Node) *Node {
	if v.Kind != Map || top.Kind != Map {
		return top
	}
	out := &Node{Position: top.Position, Kind: Map}
	for _, e := range v.Entries {
		out.Entries = append(out.Entries, &Entry{e.Key, e.Position, e.Value})
	}
	for _, e := range top.Entries {
		if below := out.Find(e.Key); below != nil {
			below.Position, below.Value = e.Position, below.Value.Overlay(e.Value)
		} else {
			out.Entries = append(out.Entries, &Entry{e.Key, e.Position, e.Value})
		}
	}
	return out
}

// Keys returns the keys of a mapping in order.
func (v *Node) Keys() []string {
	if v == nil {
		return nil
	}
	out := make([]string, len(v.Entries))
	for i, e := range v.Entries {
		out[i] = e.Key
	}
	return out
}

// IsScalar reports whether a value is neither a list nor a mapping.
func (v *Node) IsScalar() bool { return v.Kind != List && v.Kind != Map }

// Describe describes a value for messages.
func (v *Node) Describe() string {
	switch v.Kind {
	case List, Map, Null:
		return v.Kind.String()
	case Text:
		return "the string " + Quote(v.Text)
	default:
		return v.Text
	}
}

// Quote shortens a text for a message.
func Quote(s string) string {
	const most = 40
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return `"` + s + `"`
}

func runeLen(b []byte) int {
	_, n := utf8.DecodeRune(b)
	return max(n, 1)
}

// Clone returns a deep copy, because compiling modifies a tree.
func (v *Node) Clone() *Node {
	out := *v
	out.Items, out.Entries = make([]*Node, len(v.Items)), make([]*Entry, len(v.Entries))
	for i, it := range v.Items {
		out.Items[i] = it.Clone()
	}
	for i, e := range v.Entries {
		out.Entries[i] = &Entry{e.Key, e.Position, e.Value.Clone()}
	}
	return &out
}

// Shallow copies a mapping, but not its values.
func (v *Node) Shallow() *Node {
	s := *v
	s.Entries = slices.Clone(v.Entries)
	return &s
}

// TextOf returns the text of a key, or "".
func TextOf(v *Node, key string) string {
	if x := v.Get(key); x != nil && x.Kind == Text {
		return x.Text
	}
	return ""
}

// PointedAt returns the position of a JSON pointer's target, or of the last
// existing value on the way.
func (v *Node) PointedAt(pointer string) Position { return v.Pointed(pointer).Position }

// Pointed returns the target of a JSON pointer, or the last existing value on the
// way.
func (v *Node) Pointed(pointer string) *Node {
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		if e := v.Find(part); e != nil {
			v = e.Value
		} else if i, _ := strconv.Atoi(part); v.Kind == List && i >= 0 && i < len(v.Items) {
			v = v.Items[i]
		}
	}
	return v
}
