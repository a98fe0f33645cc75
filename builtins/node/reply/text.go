package reply

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// delimiter is a pair of quotes.
type delimiter struct {
	size    int    // length of the opening quote
	closers string // characters that close the string
	plain   bool   // JSON's own quote
	single  bool   // a single quote, which may also occur as an apostrophe inside
}

// quoteAt returns the delimiter that opens a string at the start of s.
func quoteAt(s string) (delimiter, bool) {
	switch s[0] {
	case '"':
		return delimiter{size: 1, closers: `"`, plain: true}, true
	case '\'':
		return delimiter{size: 1, closers: `'`, single: true}, true
	case '`':
		if !strings.HasPrefix(s, "``") {
			return delimiter{size: 1, closers: "`"}, true
		}
		return delimiter{}, false
	}
	if s[0] < utf8.RuneSelf {
		return delimiter{}, false
	}
	switch c, n := utf8.DecodeRuneInString(s); c {
	case '“', '”', '„', '‟', '«', '＂':
		return delimiter{size: n, closers: "“”‟»＂\""}, true
	case '‘', '’', '‚', '‛':
		return delimiter{size: n, closers: "‘’‛'", single: true}, true
	}
	return delimiter{}, false
}

// text reads a string. A quote ends it only if the text after the quote can follow a
// string; other quotes belong to the string, in pairs.
func (r *reader) text(v *value, isKey bool) bool {
	d, _ := quoteAt(r.src[r.pos:])
	start := r.pos
	r.pos += d.size
	if d.plain && r.plain(v, start, isKey) {
		return true
	}
	t := textReader{reader: r, d: d, isKey: isKey}
	before := r.count
	if !d.plain {
		r.fix(fixQuotes)
	}
	if !t.read() {
		return false
	}
	v.kind, v.str = stringKind, t.out.String()
	v.raw = r.src[start:r.pos]
	if r.count != before {
		v.raw = quote(v.str)
	}
	return true
}

// plain is the fast path for a JSON string without escapes. It leaves pos unchanged if
// the string is not one.
func (r *reader) plain(v *value, start int, isKey bool) bool {
	for i := r.pos; i < len(r.src); i++ {
		switch c := r.src[i]; {
		case c == '"':
			if r.ends(i+1, isKey) != closes {
				return false
			}
			v.kind, v.str, v.raw = stringKind, r.src[r.pos:i], r.src[start:i+1]
			r.pos = i + 1
			return true
		case c == '\\' || c < ' ':
			return false
		}
	}
	return false
}

// follow classifies a quote by the text after it.
type follow uint8

const (
	inner   follow = iota // prose continues, so the quote belongs to the string
	closes                // a comma, bracket or colon, so the string may end
	colon                 // a colon where none is allowed
	nothing               // the end of the text
	loose                 // another value without a comma, or prose
)

// ends classifies the text after a quote at i. It ends every string of valid JSON.
func (r *reader) ends(i int, isKey bool) follow {
	line, gap := false, false
	for ; i < len(r.src); i++ {
		c := r.src[i]
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			break
		}
		line, gap = line || c == '\n', true
	}
	if i == len(r.src) {
		return nothing
	}
	switch c := r.src[i]; {
	case c == ':' && isKey, c == ',' && !isKey, c == '}' && !isKey, c == ']' && !isKey:
		return closes
	case c == ':':
		return colon
	case c == '/' && i+1 < len(r.src) && (r.src[i+1] == '/' || r.src[i+1] == '*'), c == '#' && gap:
		return closes
	case line && !isKey && (c == '"' || c == '{' || c == '['):
		return closes
	case c >= utf8.RuneSelf && nonJSONSpace(r.src[i:]) > 0:
		return r.ends(i+nonJSONSpace(r.src[i:]), isKey)
	}
	return inner
}

// textReader reads the contents of a string that the fast path rejected.
type textReader struct {
	*reader
	d      delimiter
	isKey  bool
	inside int // quotes taken as part of the string
	out    strings.Builder
}

func (t *textReader) read() bool {
	for t.pos < len(t.src) {
		switch c := t.src[t.pos]; {
		case c == '\\':
			if !t.escape() {
				return false
			}
		case c < ' ':
			t.fix(fixControl)
			t.out.WriteByte(c)
			t.pos++
		case c < utf8.RuneSelf && strings.IndexByte(t.d.closers, c) < 0:
			start := t.pos
			for t.pos++; t.pos < len(t.src) && ordinary(t.src[t.pos]); t.pos++ {
			}
			t.out.WriteString(t.src[start:t.pos])
		default:
			_, n := utf8.DecodeRuneInString(t.src[t.pos:])
			s := t.src[t.pos : t.pos+n]
			t.pos += n
			if strings.Contains(t.d.closers, s) {
				if done, ok := t.quote(); done || !ok {
					return ok
				}
			}
			t.out.WriteString(s)
		}
	}
	if last := strings.TrimRight(t.src, " \n\t\r`"); t.inside > 0 && strings.HasSuffix(last, "}") {
		return t.fail(broken, "the quote that ends a string")
	}
	return t.fail(cut, "the end of a string")
}

// ordinary reports whether a byte has no special meaning in any string.
func ordinary(c byte) bool {
	return c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\'' && c != '`' && c != '\\'
}

// quote handles the quote that was just read.
func (t *textReader) quote() (done, ok bool) {
	odd := t.inside%2 == 1 && !t.d.single
	switch t.ends(t.pos, t.isKey) {
	case closes:
		if !odd {
			return true, true
		}
	case nothing:
		if !odd {
			return true, true
		}
		t.pos = len(t.src)
		return false, t.fail(cut, "the end of a string")
	case colon:
		if !odd && !t.d.single {
			return false, t.fail(broken, "a comma or a bracket")
		}
	case inner, loose: // the string continues
	}
	t.inside++
	if t.d.plain {
		t.fix(fixInnerQuotes)
	}
	return false, true
}

// escape reads a backslash and the characters it escapes.
func (t *textReader) escape() bool {
	if t.pos+1 >= len(t.src) {
		t.pos = len(t.src)
		return t.fail(cut, "the rest of an escape")
	}
	c := t.src[t.pos+1]
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		t.out.WriteByte("\"\\/\b\f\n\r\t"[i])
		t.pos += 2
		return true
	}
	switch c {
	case 'u':
		return t.unicode()
	case '\'', '`', '\n':
		t.fix(fixEscape)
		t.out.WriteByte(c)
		t.pos += 2
	default: // an unescaped path or pattern
		t.fix(fixEscape)
		t.out.WriteByte('\\')
		t.pos++
	}
	return true
}

// unicode reads a \u escape, including the second half of a surrogate pair.
func (t *textReader) unicode() bool {
	c, ok := hex4(t.src[t.pos:])
	if !ok {
		if len(t.src)-t.pos < 6 && strings.Trim(t.src[t.pos+2:], "0123456789abcdefABCDEF") == "" {
			t.pos = len(t.src)
			return t.fail(cut, "the rest of an escape")
		}
		t.fix(fixEscape)
		t.out.WriteByte('\\')
		t.pos++
		return true
	}
	t.pos += 6
	if utf16.IsSurrogate(c) {
		second, _ := hex4(t.src[t.pos:])
		if c = utf16.DecodeRune(c, second); c != utf8.RuneError {
			t.pos += 6
		}
	}
	t.out.WriteRune(c)
	return true
}

// hex4 reads \uXXXX.
func hex4(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:6], 16, 32)
	return rune(n), err == nil
}
