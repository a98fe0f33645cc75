package reply

import (
	"strings"
	"unicode/utf8"
)

// kind is the kind of a JSON value.
type kind uint8

const (
	null kind = iota
	boolean
	number
	stringKind
	array
	object
)

// String returns the kind as used in messages.
func (k kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// value is a parsed JSON value. raw is always valid JSON for scalars; for containers it
// is unless something inside was repaired.
type value struct {
	kind     kind
	repaired bool
	key      string // of an object member
	raw      string
	str      string // decoded value of a string
	items    []value
}

// json returns the value as valid JSON, unchanged if it was valid.
func (v *value) json() string {
	if !v.repaired {
		return v.raw
	}
	var b strings.Builder
	v.render(&b)
	return b.String()
}

func (v *value) render(b *strings.Builder) {
	if !v.repaired {
		b.WriteString(v.raw)
		return
	}
	open, end := byte('['), byte(']')
	if v.kind == object {
		open, end = '{', '}'
	}
	b.WriteByte(open)
	for i := range v.items {
		if i > 0 {
			b.WriteByte(',')
		}
		if v.kind == object {
			b.WriteString(quote(v.items[i].key))
			b.WriteByte(':')
		}
		v.items[i].render(b)
	}
	b.WriteByte(end)
}

// blank reports whether a value is null or a string of spaces.
func (v *value) blank() bool {
	return v.kind == null || v.kind == stringKind && strings.TrimSpace(v.str) == ""
}

// quote returns a JSON string with only the required escapes.
func quote(s string) string {
	const hex = "0123456789abcdef"
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < ' ':
			b.WriteString(`\u00`)
			b.WriteByte(hex[r>>4])
			b.WriteByte(hex[r&15])
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// excerpt returns the start of a text for a message: one line, whole characters.
func excerpt(s string, most int) string {
	s, _, cut := strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) > most {
		for most > 0 && !utf8.RuneStart(s[most]) {
			most--
		}
		s, cut = s[:most], true
	}
	if cut {
		s += "..."
	}
	return s
}
