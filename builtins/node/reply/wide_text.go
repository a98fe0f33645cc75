package reply

import (
	"strings"
	"unicode/utf8"
)

// wideText reads a string in a container of kind in, or a key.
func (r *reader) wideText(v *value, in kind, isKey bool) bool {
	d, _ := quoteAt(r.src[r.pos:])
	start := r.pos
	r.pos += d.size
	t := textReader{reader: r, d: d, isKey: isKey}
	before := r.count
	if !d.plain {
		r.fix(fixQuotes)
	}
	w := wideString{textReader: &t, in: in, from: r.pos}
	if !w.read() {
		return false
	}
	v.kind, v.str = stringKind, t.out.String()
	v.raw = quote(v.str)
	if r.count == before {
		v.raw = r.src[start:r.pos]
	}
	return true
}

// wideString reads the contents of a string whose quotes may be missing or belong to the
// text.
type wideString struct {
	*textReader
	in       kind
	from     int  // start of the text
	detached bool // the last quote inside that opens has no text before it
	escaped  bool // a quote inside was escaped, so an unescaped one ends the string
}

func (t *wideString) read() bool {
	for t.pos < len(t.src) {
		switch c := t.src[t.pos]; {
		case c == '\\':
			if !t.wideEscape() {
				return false
			}
		case c < ' ':
			t.fix(fixControl)
			t.out.WriteByte(c)
			t.pos++
		default:
			n := 1
			for t.pos+n < len(t.src) && t.src[t.pos+n]&0xC0 == 0x80 {
				n++
			}
			s := t.src[t.pos : t.pos+n]
			if strings.Contains(t.d.closers, s) {
				if done, ok := t.quoteAt(n); done || !ok {
					return ok
				}
			}
			t.out.WriteString(s)
			t.pos += n
		}
	}
	return t.fail(cut, "the end of a string")
}

// wideEscape reads a backslash and the characters it escapes. \x41 is a Python escape and
// is decoded only in strings with Python quotes.
func (t *wideString) wideEscape() bool {
	rest := t.src[t.pos:]
	if strings.HasPrefix(rest, `\"`) || strings.HasPrefix(rest, `\'`) {
		t.escaped = t.escaped || rest[1:2] == t.d.closers
	}
	if !strings.HasPrefix(rest, `\x`) {
		return t.escape()
	}
	if len(rest) < 4 || !t.d.single {
		return t.fail(broken, "a JSON escape")
	}
	c, ok := hex4(`\u00` + rest[2:4])
	if !ok {
		return t.fail(broken, "two hexadecimal digits")
	}
	t.fix(fixEscape)
	t.out.WriteRune(c)
	t.pos += 4
	return true
}

// quoteAt handles the quote of n bytes at pos: it ends the string, is part of it, or
// starts the next key because the closing quote is missing.
func (t *wideString) quoteAt(n int) (done, ok bool) {
	odd := t.inside%2 == 1 && !t.d.single
	role := t.quoteRole(t.pos+n, t.in, t.isKey)
	ends := false
	switch {
	case role == closes && odd:
		ends = t.tree.choose(2) == 0
	case role == closes:
		ends = true
	case role == nothing && !t.open:
		return false, t.fail(cut, "a comma or a bracket")
	case role == nothing:
		ends = true
	case role == loose && !odd && !t.isKey: // a missing comma, or prose
		ends = t.tree.choose(2) == 0
	case role == colon:
		return false, t.fail(broken, "a comma or a bracket")
	}
	if ends {
		t.pos += n
		return true, !odd || t.in == object && !t.detached || t.fail(broken, "a comma or a bracket")
	}
	if !t.isKey && t.endsEarly() {
		return true, true
	}
	if t.isKey && !t.d.single || t.escaped {
		return false, t.fail(broken, "the end of a string")
	}
	if !t.inner(n) {
		return false, t.fail(broken, "the end of a string")
	}
	t.inside++
	return false, true
}

// inner takes the quote of n bytes at pos as part of the text. An opening quote must have
// text after it; a single quote or apostrophe must have text before it, too. Other quotes
// may end the string.
func (t *wideString) inner(n int) bool {
	prev, next := t.src[t.pos-1], t.src[t.pos+n]
	if !t.d.plain {
		return textByte(prev) && textByte(next)
	}
	t.fix(fixInnerQuotes)
	if t.inside%2 == 1 {
		return true
	}
	t.detached = t.pos == t.from || strings.IndexByte(" \t\r\n,;+/*", prev) >= 0
	return strings.IndexByte(" \t\r\n,.;:!?)]}>+\"", next) < 0
}

func textByte(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' || c >= utf8.RuneSelf }

// endsEarly ends a string whose closing quote is missing because the quote at pos starts the
// next key, after a comma or on a new line.
func (t *wideString) endsEarly() bool {
	if t.in != object || !t.d.plain || !t.keyAt(t.pos) || t.src[t.pos] != '"' {
		return false
	}
	s := t.src[t.from:t.pos]
	cut := strings.TrimRight(s, " \t\r\n")
	text, comma := strings.CutSuffix(cut, ",")
	if !comma && !strings.Contains(s[len(cut):], "\n") || strings.ContainsAny(text, "\"\\\n,") || strings.TrimSpace(text) == "" {
		return false
	}
	t.fix(fixEndQuote)
	t.out.Reset()
	t.out.WriteString(text)
	t.pos = t.from + len(text)
	return true
}

// quoteRole classifies a quote by the text after it, which starts at i.
func (r *reader) quoteRole(i int, in kind, isKey bool) follow {
	from := i
	for i < len(r.src) && strings.IndexByte(" \t\r\n", r.src[i]) >= 0 {
		i++
	}
	if i >= len(r.src) {
		return nothing
	}
	rest, gap := r.src[i:], i > from
	_, quoted := quoteAt(rest)
	if strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*") || rest[0] == '#' && gap {
		return closes
	}
	if isKey {
		if rest[0] == ':' || quoted && gap {
			return closes
		}
		return inner
	}
	switch c := rest[0]; {
	case c == ':':
		return colon
	case c == '}' || c == ']':
		return closes
	case c == '`' && strings.Trim(rest, "` \t\r\n") == "":
		return nothing
	case c == ',':
		return r.afterComma(i+1, in)
	case in == object && r.keyAt(i) && (quoted || strings.Contains(r.src[from:i], "\n")):
		return closes
	case in == array && quoted && gap:
		return closes
	case in == array && gap && (c == '{' || c == '[' || strings.Contains(r.src[from:i], "\n")):
		return closes
	case in == array && gap:
		return loose
	case nonJSONSpace(rest) > 0:
		return r.quoteRole(i+nonJSONSpace(rest), in, isKey)
	}
	return inner
}

// behindComma reports whether a string may end before a comma, judging by the text after
// it.
func (r *reader) afterComma(i int, in kind) follow {
	rest := strings.TrimLeft(r.src[i:], ", \t\r\n")
	switch {
	case rest == "":
		return nothing
	case rest[0] == '}' || rest[0] == ']' || strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*") || rest[0] == '#':
		return closes
	case in == object && rest[0] == '{': // the object's own bracket is missing
		return closes
	case in == object && !r.keyAt(i+strings.IndexByte(r.src[i:], rest[0])):
		return inner
	}
	return closes
}
