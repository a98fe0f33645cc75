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

// Kind is what a value of JSON is.
type Kind int

// The kinds.
const (
	Unknown Kind = iota
	Null
	boolean
	number
	Text
	List
	Object
)

// Value is one value of a source, with its place and whether something became of
// it: what no one looked at is reported in the end. A nil item is a value that is
// not there.
type Value struct {
	File, Path string
	Kind       Kind
	Text       string   // of a scalar, numbers as they are written
	Keys       []string // of an object, in their order
	Items      []*Value // of an object or list
	Used       bool
}

// PlainKey matches a key that a path shows without quotes.
var PlainKey = text.Regexp(`^[A-Za-z0-9_-]+$`)

// Join is the path of a member.
func Join(path, key string) string {
	switch {
	case !PlainKey().MatchString(key):
		return path + "[" + strconv.Quote(OneLine(key)) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// Set puts a member; true = there was one already, which is replaced.
func (it *Value) Set(key string, member *Value) bool {
	if i := slices.Index(it.Keys, key); i >= 0 {
		it.Items[i] = member
		return true
	}
	it.Keys, it.Items = append(it.Keys, key), append(it.Items, member)
	return false
}

// Get is a member, by the names of objects in objects; nil = there is none, or it
// is null.
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

// Members are the members of an object; of another value, and of nil, none.
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

// Use marks a value with all that is in it: something became of it.
func (it *Value) Use() *Value {
	if it != nil {
		it.Used = true
		for _, sub := range it.Items {
			sub.Use()
		}
	}
	return it
}

// UseText is a scalar as text, and takes it; "" = there is none.
func (it *Value) UseText() string {
	if it == nil || it.Kind == List || it.Kind == Object {
		return ""
	}
	return it.Use().Text
}

// Peek is word, and leaves it.
func (it *Value) Peek() string {
	if it == nil || it.Kind == List || it.Kind == Object {
		return ""
	}
	return it.Text
}

// UseInt is a whole number, also one that is written as text; it takes it when
// it is one.
func (it *Value) UseInt() (int, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(it.Peek()), 64)
	if err != nil || n != float64(int(n)) || n > 1e9 || n < -1e9 {
		return 0, false
	}
	it.Use()
	return int(n), true
}

// UseBool is true or false, also as text; it takes it when it is one of them.
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

// Decode reads the JSON that is in a text, in place: OpenSearch keeps many
// lists and objects so.
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

// Native is a value as the YAML writer takes it.
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

// Unused are the largest values of which nothing became.
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

// Remove takes a member out of an object; nil = there is none.
func (it *Value) Remove(key string) *Value {
	i := slices.Index(it.Keys, key)
	if i < 0 {
		return nil
	}
	member := it.Items[i]
	it.Keys, it.Items = slices.Delete(it.Keys, i, i+1), slices.Delete(it.Items, i, i+1)
	return member
}

// Number is a number, also one that is written as text; nil = it is none.
func (it *Value) Number() any {
	s := strings.TrimSpace(it.Peek())
	if KindOfWord(s) != number {
		return nil
	}
	return json.Number(s)
}

// UseSeconds is a number of seconds as specs write times; it takes it when it is
// one.
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
