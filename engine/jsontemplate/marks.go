package jsontemplate

import (
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/component"
)

// A mark replaces a value while JSON text is rendered: the number of the value between
// two characters that the text cannot contain. nothing marks a missing value.
const open, shut, nothing = "\uE000", "\uE001", "\uE002"

// marks replaces values by marks, and puts the values back into the parsed tree. Values
// are never part of the text.
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

// put replaces the marks in a tree; nil = an unset value.
func (m *marks) put(tree any) any {
	switch t := tree.(type) {
	case string:
		return m.fill(t)
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

// fill fills a JSON string: a string that is one mark becomes the value with its type; in
// other strings values become text.
func (m *marks) fill(s string) any {
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
		b.WriteString(Text(m.value(number)))
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

// quoteMarks quotes marks outside of JSON strings, and inserts one where a value is
// missing, such as between : and ,.
func quoteMarks(s string) string {
	var b strings.Builder
	var last rune // last non-space character outside of strings
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

// missing reports whether a value is missing between two characters.
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
