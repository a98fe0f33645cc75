package convert

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// kind is what a value of JSON is.
type kind int

const (
	unknown kind = iota
	null
	boolean
	number
	text
	list
	object
)

// item is one value of a source, with its place and whether something became of
// it: what nobody looked at is reported in the end. A nil item is a value that is
// not there.
type item struct {
	file, path string
	kind       kind
	text       string   // of a scalar, numbers as they are written
	keys       []string // of an object, in their order
	items      []*item  // of an object or list
	done       bool
}

var plainKey = lazily(`^[A-Za-z0-9_-]+$`)

// below is the path of a member.
func below(path, key string) string {
	switch {
	case !plainKey().MatchString(key):
		return path + "[" + strconv.Quote(oneLine(key)) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// set puts a member; true = there was one already, which is replaced.
func (it *item) set(key string, member *item) bool {
	if i := slices.Index(it.keys, key); i >= 0 {
		it.items[i] = member
		return true
	}
	it.keys, it.items = append(it.keys, key), append(it.items, member)
	return false
}

// at is a member, by the names of objects in objects; nil = there is none, or it
// is null.
func (it *item) at(keys ...string) *item {
	for _, key := range keys {
		if it == nil || it.kind != object {
			return nil
		}
		i := slices.Index(it.keys, key)
		if i < 0 {
			return nil
		}
		it = it.items[i]
	}
	if it != nil && it.kind == null {
		it.take()
		return nil
	}
	return it
}

// take marks a value with all that is in it: something became of it.
func (it *item) take() *item {
	if it != nil {
		it.done = true
		for _, sub := range it.items {
			sub.take()
		}
	}
	return it
}

// word is a scalar as text, and takes it; "" = there is none.
func (it *item) word() string {
	if it == nil || it.kind == list || it.kind == object {
		return ""
	}
	return it.take().text
}

// peek is word, and leaves it.
func (it *item) peek() string {
	if it == nil || it.kind == list || it.kind == object {
		return ""
	}
	return it.text
}

// whole is a whole number, also one that is written as text; it takes it when
// it is one.
func (it *item) whole() (int, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(it.peek()), 64)
	if err != nil || n != float64(int(n)) || n > 1e9 || n < -1e9 {
		return 0, false
	}
	it.take()
	return int(n), true
}

// truth is true or false, also as text; it takes it when it is one of them.
func (it *item) truth() (yes, ok bool) {
	switch strings.ToLower(strings.TrimSpace(it.peek())) {
	case "true":
		it.take()
		return true, true
	case "false":
		it.take()
		return false, true
	}
	return false, false
}

// unfold reads the JSON that stands in a text, in place: OpenSearch keeps many
// lists and objects so.
func (it *item) unfold() *item {
	if it == nil || it.kind != text {
		return it
	}
	s := strings.TrimSpace(it.text)
	if !strings.HasPrefix(s, "[") && !strings.HasPrefix(s, "{") {
		return it
	}
	r := &reader{file: it.file, src: s}
	inner, err := r.value(it.path, 0)
	if err != nil || r.next() != 0 {
		return it
	}
	it.kind, it.text, it.keys, it.items = inner.kind, "", inner.keys, inner.items
	return it
}

// plain is a value as the YAML writer takes it.
func (it *item) plain() any {
	switch it.kind {
	case text:
		return it.text
	case number:
		return json.Number(it.text)
	case boolean:
		return it.text == "true"
	case list:
		out := make([]any, len(it.items))
		for i, sub := range it.items {
			out[i] = sub.plain()
		}
		return out
	case null, unknown:
		return nil
	case object:
		out := make(mapping, len(it.items))
		for i, sub := range it.items {
			out[i] = entry{key: it.keys[i], value: sub.plain()}
		}
		return out
	}
	return nil
}

// left are the largest values of which nothing became.
func (it *item) left() (out []*item) {
	if it == nil || it.done {
		return nil
	}
	if len(it.items) == 0 {
		return []*item{it}
	}
	whole := true
	for _, sub := range it.items {
		rest := sub.left()
		whole = whole && len(rest) == 1 && rest[0] == sub
		out = append(out, rest...)
	}
	if whole && it.path != "" {
		return []*item{it}
	}
	return out
}

// log is the notes of an import, in the order in which they are made.
type log struct{ notes []Note }

// note says what became of a value, and takes it.
func (l *log) note(it *item, fate Fate, format string, args ...any) {
	if it == nil {
		return
	}
	l.notes = append(l.notes, Note{File: it.file, Path: it.path, Fate: fate, What: fmt.Sprintf(format, args...)})
	it.take()
}

// remind is a note on something that is not in the source.
func (l *log) remind(file, path string, fate Fate, format string, args ...any) {
	l.notes = append(l.notes, Note{File: file, Path: path, Fate: fate, What: fmt.Sprintf(format, args...)})
}

// rest notes all that nobody looked at.
func (l *log) rest(root *item, why string) {
	for _, it := range root.left() {
		if it.kind != list && it.kind != object || len(it.items) > 0 { // empty ones say nothing
			l.note(it, Dropped, "%s", why)
		}
	}
}
