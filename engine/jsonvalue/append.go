package jsonvalue

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// AppendString appends s to b as a JSON string, encoded as Encode does. Invalid UTF-8 is
// replaced.
func AppendString(b []byte, s string) []byte {
	s = ValidString(s)
	b = append(b, '"')
	from := 0
	for i := range len(s) {
		short := byte(0)
		switch c := s[i]; c {
		case '"', '\\':
			short = c
		case '\n':
			short = 'n'
		case '\t':
			short = 't'
		case '\r':
			short = 'r'
		default:
			if c < ' ' || c == 0xE2 { // rare: other control characters, and lead bytes like that of U+2028
				q, _ := Marshal(s[from:]) // a string always encodes
				return append(b, q[1:]...)
			}
			continue
		}
		b = append(append(b, s[from:i]...), '\\', short)
		from = i + 1
	}
	return append(append(b, s[from:]...), '"')
}

// ValidString returns s with invalid UTF-8 replaced, as encoding does.
func ValidString(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// CompactRaw returns raw on one line in valid UTF-8, as decoding what Marshal wrote returns
// it; ok is false if it is not JSON. It returns raw itself if nothing changes.
func CompactRaw(raw json.RawMessage) (out json.RawMessage, ok bool) {
	if !json.Valid(raw) {
		return nil, false
	}
	if hasSpace(raw) {
		var buf bytes.Buffer
		_ = json.Compact(&buf, raw) // it is valid
		raw = buf.Bytes()
	}
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	return raw, true
}

// hasSpace reports whether valid JSON has white space between its tokens.
func hasSpace(raw []byte) bool {
	quoted := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\':
			i++ // only in strings
		case c <= ' ' && !quoted:
			return true
		}
	}
	return false
}
