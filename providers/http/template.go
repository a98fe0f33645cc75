package http

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/component"
)

// template is a request_body: a tree whose texts are templates, or JSON text.
type template struct {
	value   component.Value
	text    bool // it is JSON text
	written any  // the tree as written
}

func newTemplate(v component.Value) (*template, error) {
	t := &template{value: v}
	if err := decode(v.JSON, &t.written); err != nil {
		return nil, fmt.Errorf("options.request_body: %w", err)
	}
	var source string
	source, t.text = t.written.(string)
	if strings.ContainsAny(source, open+shut+nothing) {
		return nil, errors.New("options.request_body holds characters of Unicode's private use (U+E000 to U+E002), which mark values here")
	}
	if _, ok := t.written.(map[string]any); !ok && !t.text {
		return nil, errors.New("options.request_body is neither a mapping nor JSON text")
	}
	return t, nil
}

// fill gives the body with the values that look finds.
func (t *template) fill(look component.Lookup) (map[string]any, error) {
	var tree any
	if t.text {
		marks := &marks{look: look}
		text, _ := t.value.Render(marks.lookup).(string)
		if err := decode([]byte(quoteMarks(text)), &tree); err != nil {
			return nil, fmt.Errorf("options.request_body is no JSON once it is filled: %w", err)
		}
		tree = marks.put(tree)
	} else {
		tree = prune(t.value.Render(look), t.written)
	}
	if tree == nil { // all of it fell away
		return map[string]any{}, nil
	}
	body, ok := tree.(map[string]any)
	if !ok {
		return nil, errors.New("options.request_body is no JSON object once it is filled")
	}
	return body, nil
}

// prune leaves out members and items that are null though written as
// something else: their reference is unset. What is emptied by it goes too.
func prune(v, written any) any {
	switch was := written.(type) {
	case map[string]any:
		now, ok := v.(map[string]any)
		if !ok {
			return v
		}
		out := make(map[string]any, len(now))
		for key, inner := range now {
			if inner = prune(inner, was[key]); inner != nil || was[key] == nil {
				out[key] = inner
			}
		}
		if len(out) == 0 && len(was) > 0 {
			return nil
		}
		return out
	case []any:
		now, ok := v.([]any)
		if !ok || len(now) != len(was) {
			return v
		}
		out := make([]any, 0, len(now))
		for i, inner := range now {
			if inner = prune(inner, was[i]); inner != nil || was[i] == nil {
				out = append(out, inner)
			}
		}
		if len(out) == 0 && len(was) > 0 {
			return nil
		}
		return out
	}
	return v
}

// A mark stands for a value while JSON text is filled: the number of the value
// between two characters that the text cannot hold. nothing marks a place
// where nothing came.
const open, shut, nothing = "\uE000", "\uE001", "\uE002"

// marks gives marks out in place of values, and puts the values back into the
// tree that the text was. No value is ever part of the text.
type marks struct {
	look   component.Lookup
	values []any
}

func (m *marks) lookup(ns, name string) (any, bool) {
	v, ok := m.look(ns, name)
	if !ok || v == nil {
		return nil, false
	}
	m.values = append(m.values, v)
	return open + strconv.Itoa(len(m.values)-1) + shut, true
}

// put replaces marks in a tree; nil = the place of a value that is unset.
func (m *marks) put(tree any) any {
	switch t := tree.(type) {
	case string:
		return m.text(t)
	case map[string]any:
		had := len(t)
		for key, v := range t {
			if filled := m.put(v); filled != nil || v == nil {
				t[key] = filled
			} else {
				delete(t, key)
			}
		}
		if had > 0 && len(t) == 0 {
			return nil
		}
	case []any:
		out := make([]any, 0, len(t))
		for _, v := range t {
			if filled := m.put(v); filled != nil || v == nil {
				out = append(out, filled)
			}
		}
		if len(t) > 0 && len(out) == 0 {
			return nil
		}
		return out
	}
	return tree
}

// text fills a JSON string: one that is a single mark becomes the value with
// its type, in others values become text.
func (m *marks) text(s string) any {
	if s == nothing {
		return nil
	}
	if rest, ok := strings.CutPrefix(s, open); ok {
		if number, end, found := strings.Cut(rest, shut); found && end == "" {
			return m.value(number)
		}
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, open)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		number, after, _ := strings.Cut(rest, shut)
		b.WriteString(plainText(m.value(number)))
		s = after
	}
}

func (m *marks) value(number string) any {
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(m.values) {
		return nil
	}
	return m.values[i]
}

// quoteMarks puts marks outside of JSON strings into strings, and a mark where
// a value is missing: between : and , or } and the like.
func quoteMarks(s string) string {
	var b strings.Builder
	var last rune // the last sign outside of strings that is not white space
	within, escaped := false, false
	for _, r := range s {
		switch {
		case within:
			switch {
			case escaped:
				escaped = false
			case r == '\\':
				escaped = true
			case r == '"':
				within = false
			}
		case r == '"':
			within, last = true, r
		case strings.ContainsRune(open, r):
			b.WriteByte('"')
			last = r
		case strings.ContainsRune(shut, r):
			b.WriteRune(r)
			r = '"'
		case strings.ContainsRune(" \t\r\n", r):
		default:
			if missing(last, r) {
				b.WriteString(`"` + nothing + `"`)
			}
			last = r
		}
		b.WriteRune(r)
	}
	return b.String()
}

// missing says that a value should stand between two signs.
func missing(last, next rune) bool {
	switch next {
	case ',':
		return last == ':' || last == ',' || last == '['
	case '}':
		return last == ':'
	case ']':
		return last == ','
	}
	return false
}

// plainText is how a value reads within a text: a string as it is, anything
// else as JSON.
func plainText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	text, err := encode(v)
	if err != nil {
		return ""
	}
	return string(text)
}

// names lists what a template refers to in args, by rendering it without any
// value: a reference then asks for its whole name last.
func names(render func(component.Lookup)) []string {
	var out []string
	render(func(ns, name string) (any, bool) {
		if ns == "args" && !strings.ContainsAny(name, ".[") && !slices.Contains(out, name) {
			out = append(out, name)
		}
		return nil, false
	})
	return out
}

// encode writes JSON as it is, without escapes for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// decode reads one JSON value, numbers as they are written.
func decode(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more behind the value")
	}
	return nil
}
