package reply

import "strings"

// The methods in this file and in wide_text.go read what reader.value rejects: missing
// quotes, colons and brackets, and unquoted text. Each of these is a guess, so they are
// used only if a schema decides which reading is correct.

// wideValue reads the value at pos inside a container of kind in.
func (r *reader) wideValue(v *value, in kind) bool {
	if r.pos >= len(r.src) {
		return r.fail(cut, "a value")
	}
	c := r.src[r.pos]
	if c == '{' || c == '[' {
		return r.wideContainer(v, c)
	}
	if _, quoted := quoteAt(r.src[r.pos:]); quoted {
		return r.wideText(v, in, false)
	}
	return r.bare(v, in)
}

// wideContainer reads an object or array.
func (r *reader) wideContainer(v *value, open byte) bool {
	before, floor := r.count, len(r.stack)
	if r.level == r.limit {
		return r.fail(deep, "")
	}
	r.level++
	r.pos++
	v.kind = array
	if open == '{' {
		v.kind = object
	}
	r.outer = append(r.outer, v.kind)
	if !r.wideMembers(v.kind, open+2) {
		return false
	}
	r.outer = r.outer[:len(r.outer)-1]
	r.level--
	v.items = append([]value(nil), r.stack[floor:]...)
	r.stack = r.stack[:floor]
	// The source may lack the closing bracket, so the value is always rendered.
	v.repaired = true
	_ = before
	return true
}

// wideMembers reads the contents of a container, including the closing bracket.
func (r *reader) wideMembers(k kind, end byte) bool {
	comma := false
	for first := true; ; first = false {
		if !r.space() {
			return false
		}
		for r.pos < len(r.src) && r.src[r.pos] == ',' {
			if !first && k == array {
				return r.stop("an element")
			}
			r.fix(fixComma)
			r.pos++
			if !r.space() {
				return false
			}
		}
		if r.pos >= len(r.src) {
			return r.missingBracket(first || comma, end)
		}
		if c := r.src[r.pos]; c == '}' || c == ']' {
			if comma {
				r.fix(fixComma)
			}
			return r.closingBracket(c, end)
		}
		if k == object && comma && r.src[r.pos] == '{' && len(r.outer) > 1 && r.outer[len(r.outer)-2] == array {
			r.fix(fixBracket)
			r.commaRead = true
			return true
		}
		var ok bool
		if comma, ok = r.wideMember(k); !ok {
			return false
		}
	}
}

// closingBracket handles a closing bracket. A bracket that does not match ends an outer
// container, in which case this one lacks its own, or is a typo for the matching one.
func (r *reader) closingBracket(c, end byte) bool {
	if c == end {
		r.pos++
		return true
	}
	r.fix(fixBracket)
	want := array
	if c == '}' {
		want = object
	}
	for _, k := range r.outer[:len(r.outer)-1] {
		if k == want {
			if r.tree.choose(2) == 0 {
				return true
			}
			break
		}
	}
	r.pos++
	return true
}

// missingBracket ends a container without a closing bracket at the end of the text. If pending
// is set, the text is truncated.
func (r *reader) missingBracket(pending bool, end byte) bool {
	if pending || !r.open || !r.endsComplete() {
		return r.stop(commaOr(end))
	}
	r.fix(fixUnclosed)
	return true
}

// settled reports whether the text ends with a complete value. A number or an unquoted
// word could continue.
func (r *reader) endsComplete() bool {
	s := strings.TrimRight(r.src, " \t\r\n`")
	if s == "" {
		return false
	}
	switch s[len(s)-1] {
	case '"', '\'', '}', ']':
		return true
	}
	return strings.HasSuffix(s, "true") || strings.HasSuffix(s, "false") || strings.HasSuffix(s, "null")
}

// wideMember reads one member or element and the comma after it.
func (r *reader) wideMember(k kind) (comma, ok bool) {
	if !r.entry(k, true) {
		return false, false
	}
	if r.commaRead {
		r.commaRead = false
		return true, true
	}
	from := r.pos
	if !r.space() {
		return false, false
	}
	if r.pos >= len(r.src) {
		return false, true
	}
	switch c := r.src[r.pos]; {
	case c == ',':
		r.pos++
		return true, true
	case c == '}' || c == ']':
		return false, true
	case k == object && r.keyAt(r.pos) || k == array && r.elementAt(from):
		r.fix(fixMissingComma)
		return false, true
	}
	return false, r.stop("a comma")
}

// elementAt reports whether an element starts at pos without a comma before it. from is
// the end of the previous element.
func (r *reader) elementAt(from int) bool {
	prev, next := r.src[from-1], r.src[r.pos]
	if prev == '}' || prev == ']' {
		return next == '{' || next == '['
	}
	return from < r.pos || prev == '"' && next == '"'
}

// wideKey reads a member's key and the colon.
func (r *reader) wideKey() (string, bool) {
	var k value
	if _, quoted := quoteAt(r.src[r.pos:]); quoted {
		if !r.wideText(&k, object, true) {
			return "", false
		}
	} else {
		k.str = r.word()
		if k.str == "" {
			return "", r.stop("a key")
		}
		r.fix(fixBareKey)
		if r.pos < len(r.src) && r.src[r.pos] == '"' { // the opening quote is missing
			r.pos++
		}
	}
	from := r.pos
	if !r.space() {
		return "", false
	}
	if r.pos >= len(r.src) {
		return "", r.stop("a colon")
	}
	if r.src[r.pos] != ':' {
		if _, quoted := quoteAt(r.src[r.pos:]); !quoted || from == r.pos || r.src[from-1] != '"' {
			return "", r.stop("a colon")
		}
		r.fix(fixColon)
		return k.str, true
	}
	r.pos++
	r.progress = true
	return k.str, r.space()
}

// maxKey is the maximum length of an unquoted key.
const maxKey = 120

// keyAt reports whether a key and its colon are at i, ignoring white space.
func (r *reader) keyAt(i int) bool {
	s := strings.TrimLeft(r.src[min(i, len(r.src)):], " \t\r\n")
	if s == "" {
		return false
	}
	s = s[:min(len(s), maxKey)]
	if d, quoted := quoteAt(s); quoted {
		n := strings.IndexAny(s[d.size:], d.closers+"\n")
		if n < 0 {
			return false
		}
		s = strings.TrimLeft(s[d.size+n:], d.closers)
	} else {
		n := 0
		for n < len(s) && wordByte(s[n]) {
			n++
		}
		if n == 0 {
			return false
		}
		s = strings.TrimPrefix(s[n:], `"`)
	}
	s = strings.TrimLeft(s, " \t\r\n")
	return strings.HasPrefix(s, ":")
}

func wordByte(c byte) bool { return isLetter(c) || c == '$' || c == '-' || '0' <= c && c <= '9' }
