package tree

import (
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pexctl/pex/engine/text"
)

// Kind is the kind of a JSON value.
type Kind int

// Kinds.
const (
	Unknown Kind = iota
	Null
	boolean
	number
	Text
	List
	Object
)

// Value is one value of a source, with its place and whether the conversion used
// it. Unused values are reported at the end. A nil Value is a missing value.
type Value struct {
	File, Path string
	Kind       Kind
	Text       string   // of a scalar; numbers as written
	Keys       []string // of an object, in source order
	Items      []*Value // of an object or list
	Used       bool
}

// PlainKey matches a key that paths show without quotes.
var PlainKey = text.Regexp(`^[A-Za-z0-9_-]+$`)

// Join returns the path of a member.
func Join(path, key string) string {
	switch {
	case !PlainKey().MatchString(key):
		return path + "[" + strconv.Quote(OneLine(key)) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// Set sets a member and reports whether it replaced one.
func (it *Value) Set(key string, member *Value) bool {
	if i := slices.Index(it.Keys, key); i >= 0 {
		it.Items[i] = member
		return true
	}
	it.Keys, it.Items = append(it.Keys, key), append(it.Items, member)
	return false
}

// Get returns a member of nested objects, or nil if it is missing or null.
func (it *Value) Get(keys ...string) *Value {
	for _, key := range keys {
		if it == nil || it.Kind != Object {
			return nil
		}
		i := slices.Index(it.Keys, key)
		if i < 0 {
			return nil
		}
		it = it.Items[i]
	}
	if it != nil && it.Kind == Null {
		it.Use()
		return nil
	}
	return it
}

// Members returns the members of an object. It is empty for other values and for
// nil.
func (it *Value) Members() iter.Seq2[string, *Value] {
	return func(yield func(string, *Value) bool) {
		if it == nil || it.Kind != Object {
			return
		}
		for i, key := range it.Keys {
			if !yield(key, it.Items[i]) {
				return
			}
		}
	}
}

// Use marks a value and everything in it as used.
func (it *Value) Use() *Value {
	if it != nil {
		it.Used = true
		for _, sub := range it.Items {
			sub.Use()
		}
	}
	return it
}

// UseText returns a scalar as text and marks it as used. It returns "" for other
// values.
func (it *Value) UseText() string {
	if it == nil || it.Kind == List || it.Kind == Object {
		return ""
	}
	return it.Use().Text
}

// Peek is like UseText but does not mark the value as used.
func (it *Value) Peek() string {
	if it == nil || it.Kind == List || it.Kind == Object {
		return ""
	}
	return it.Text
}

// UseInt returns a whole number, also if it is written as text, and marks it as
// used. ok is false for other values.
func (it *Value) UseInt() (int, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(it.Peek()), 64)
	if err != nil || n != float64(int(n)) || n > 1e9 || n < -1e9 {
		return 0, false
	}
	it.Use()
	return int(n), true
}

// UseBool returns a boolean, also if it is written as text, and marks it as used.
// ok is false for other values.
func (it *Value) UseBool() (yes, ok bool) {
	switch strings.ToLower(strings.TrimSpace(it.Peek())) {
	case "true":
		it.Use()
		return true, true
	case "false":
		it.Use()
		return false, true
	}
	return false, false
}

// Decode parses JSON in a text, in place. OpenSearch stores many lists and
// objects as text.
func (it *Value) Decode() *Value {
	if it == nil || it.Kind != Text {
		return it
	}
	s := strings.TrimSpace(it.Text)
	if !strings.HasPrefix(s, "[") && !strings.HasPrefix(s, "{") {
		return it
	}
	r := &Reader{File: it.File, Src: s}
	inner, err := r.Value(it.Path, 0)
	if err != nil || r.Next() != 0 {
		return it
	}
	it.Kind, it.Text, it.Keys, it.Items = inner.Kind, "", inner.Keys, inner.Items
	return it
}

// Native returns a value in the form that the YAML writer accepts.
func (it *Value) Native() any {
	switch it.Kind {
	case Text:
		return it.Text
	case number:
		return json.Number(it.Text)
	case boolean:
		return it.Text == "true"
	case List:
		out := make([]any, len(it.Items))
		for i, sub := range it.Items {
			out[i] = sub.Native()
		}
		return out
	case Null, Unknown:
		return nil
	case Object:
		out := make(Map, len(it.Items))
		for i, sub := range it.Items {
			out[i] = Entry{Key: it.Keys[i], Value: sub.Native()}
		}
		return out
	}
	return nil
}

// Unused returns the largest values of which no part was used.
func (it *Value) Unused() (out []*Value) {
	if it == nil || it.Used {
		return nil
	}
	if len(it.Items) == 0 {
		return []*Value{it}
	}
	whole := true
	for _, sub := range it.Items {
		rest := sub.Unused()
		whole = whole && len(rest) == 1 && rest[0] == sub
		out = append(out, rest...)
	}
	if whole && it.Path != "" {
		return []*Value{it}
	}
	return out
}

// Remove removes a member of an object and returns it, or nil if there is none.
func (it *Value) Remove(key string) *Value {
	i := slices.Index(it.Keys, key)
	if i < 0 {
		return nil
	}
	member := it.Items[i]
	it.Keys, it.Items = slices.Delete(it.Keys, i, i+1), slices.Delete(it.Items, i, i+1)
	return member
}

// Number returns a number, also if it is written as text, or nil for other
// values.
func (it *Value) Number() any {
	s := strings.TrimSpace(it.Peek())
	if KindOfWord(s) != number {
		return nil
	}
	return json.Number(s)
}

// UseSeconds returns a number of seconds as a duration and marks it as used. It
// returns "" for other values.
func (it *Value) UseSeconds() string {
	f, err := strconv.ParseFloat(strings.TrimSpace(it.Peek()), 64)
	if err != nil || f <= 0 || f > 86400 {
		return ""
	}
	it.Use()
	return time.Duration(f * float64(time.Second)).Round(time.Millisecond).String()
}

// First returns the first value that exists, or nil.
func First(all ...*Value) *Value {
	for _, it := range all {
		if it != nil {
			return it
		}
	}
	return nil
}
