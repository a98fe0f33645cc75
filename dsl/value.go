package dsl

import (
	"slices"
	"unicode/utf8"
)

// kind is what a value is, by the rules of YAML 1.2.
type kind int

const (
	null kind = iota
	boolean
	integer
	float
	text
	list
	dict
)

func (k kind) String() string {
	return [...]string{"nothing", "true or false", "a whole number", "a number", "text", "a list", "a mapping"}[k]
}

// style is how a scalar was written.
type style int

const (
	plain style = iota
	single
	double
	literal
	folded
)

// value is one YAML value with its position: aliases expanded, merges done.
// Phases change it in place, so that what is left in the end is the resolved spec.
type value struct {
	place
	kind    kind
	text    string // of a scalar
	style   style
	comment string // on the same line
	items   []*value
	entries []*entry
}

// entry is one key of a mapping.
type entry struct {
	key   string
	place place // of the key
	val   *value
}

// find returns the entry of a key, or nil.
func (v *value) find(key string) *entry {
	if v == nil || v.kind != dict {
		return nil
	}
	i := slices.IndexFunc(v.entries, func(e *entry) bool { return e.key == key })
	if i < 0 {
		return nil
	}
	return v.entries[i]
}

// get returns the value of a key, or nil; a null counts as not written.
func (v *value) get(key string) *value {
	if e := v.find(key); e != nil && e.val.kind != null {
		return e.val
	}
	return nil
}

// set puts a value under a key.
func (v *value) set(key string, at place, val *value) {
	if e := v.find(key); e != nil {
		e.place, e.val = at, val
		return
	}
	v.entries = append(v.entries, &entry{key, at, val})
}

// drop removes keys.
func (v *value) drop(keys ...string) {
	v.entries = slices.DeleteFunc(v.entries, func(e *entry) bool { return slices.Contains(keys, e.key) })
}

// overlaid is a new mapping with the keys of v and those of top over them,
// mappings key by key. Other values are shared, not copied: where a later phase
// reads a file into one, both mappings have it.
func (v *value) overlaid(top *value) *value {
	if v.kind != dict || top.kind != dict {
		return top
	}
	out := &value{place: top.place, kind: dict}
	for _, e := range v.entries {
		out.entries = append(out.entries, &entry{e.key, e.place, e.val})
	}
	for _, e := range top.entries {
		if below := out.find(e.key); below != nil {
			below.place, below.val = e.place, below.val.overlaid(e.val)
		} else {
			out.entries = append(out.entries, &entry{e.key, e.place, e.val})
		}
	}
	return out
}

// keys lists a mapping's keys in order.
func (v *value) keys() []string {
	if v == nil {
		return nil
	}
	out := make([]string, len(v.entries))
	for i, e := range v.entries {
		out[i] = e.key
	}
	return out
}

func (v *value) isScalar() bool { return v.kind != list && v.kind != dict }

// describe says what a value is, for messages.
func (v *value) describe() string {
	switch v.kind {
	case list, dict, null:
		return v.kind.String()
	case text:
		return "the text " + quoted(v.text)
	default:
		return v.text
	}
}

// quoted shortens a text for a message.
func quoted(s string) string {
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
