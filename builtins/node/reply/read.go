package reply

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// fault is the reason why a value could not be read.
type fault uint8

const (
	sound  fault = iota
	broken       // neither JSON nor safely repairable
	cut          // the text ends inside the value
	deep         // nested deeper than the limit
)

// reader reads one value and repairs it on the way. It reads valid JSON without a fix:
// every leniency applies only where JSON is already invalid.
type reader struct {
	src   string
	pos   int
	limit int // maximum nesting depth
	level int
	stack []value  // members and elements of the open containers
	few   [8]value // where the stack starts

	fixes fix
	count int // number of fixes, so that a container can tell whether it contains any

	tree      *branches // choices between readings; nil = no ambiguous repairs
	outer     []kind    // the open containers, for a reader with a tree
	open      bool      // closing brackets may be missing at the end of the text
	commaRead bool      // the comma after the value was read with it

	fault    fault
	expected string // expected token at pos, for the message
	progress bool   // a member or element was read, so the text was intended as JSON
}

func (r *reader) fix(m fix) { r.fixes |= m; r.count++ }

func (r *reader) fail(f fault, expected string) bool {
	r.fault, r.expected = f, expected
	return false
}

// stop fails at the current position: cut if the text ends there, possibly within a
// comment marker or character, else broken.
func (r *reader) stop(expected string) bool {
	switch r.src[min(r.pos, len(r.src)):] {
	case "", "/", "\uFFFD":
		return r.fail(cut, expected)
	}
	return r.fail(broken, expected)
}

// value reads the value at pos. If it fails, fault is the reason.
func (r *reader) value(v *value) bool {
	if r.pos >= len(r.src) {
		return r.fail(cut, "a value")
	}
	switch c := r.src[r.pos]; {
	case c == '"':
		return r.text(v, false)
	case c == '{' || c == '[':
		return r.container(v, c)
	case c == '-' || c == '+' || c == '.' || '0' <= c && c <= '9':
		return r.number(v)
	case isLetter(c):
		return r.literal(v)
	}
	if _, ok := quoteAt(r.src[r.pos:]); ok {
		return r.text(v, false)
	}
	return r.stop("a value")
}

// container reads an object or array.
func (r *reader) container(v *value, open byte) bool {
	start, before, floor := r.pos, r.count, len(r.stack)
	if r.level == r.limit {
		return r.fail(deep, "")
	}
	r.level++
	r.pos++
	v.kind = array
	if open == '{' {
		v.kind = object
	}
	if !r.members(v.kind, open+2) { // '{'+2 is '}', '['+2 is ']'
		return false
	}
	r.level--
	if n := len(r.stack) - floor; n > 0 {
		v.items = make([]value, n)
		copy(v.items, r.stack[floor:])
		clear(r.stack[floor:])
		r.stack = r.stack[:floor]
	}
	v.raw, v.repaired = r.src[start:r.pos], r.count != before
	return true
}

// members reads the contents of a container, including the closing bracket.
func (r *reader) members(k kind, end byte) bool {
	for first := true; ; first = false {
		if !r.space() {
			return false
		}
		for r.pos < len(r.src) && r.src[r.pos] == ',' {
			r.fix(fixComma)
			r.pos++
			if !r.space() {
				return false
			}
		}
		if r.pos < len(r.src) && r.src[r.pos] == end {
			if !first {
				r.fix(fixComma)
			}
			r.pos++
			return true
		}
		done, ok := r.member(k, end)
		if done || !ok {
			return ok
		}
	}
}

// member reads one member or element and the comma or bracket after it.
func (r *reader) member(k kind, end byte) (done, ok bool) {
	if !r.entry(k, false) {
		return false, false
	}
	from := r.pos
	if !r.space() {
		return false, false
	}
	if r.pos >= len(r.src) {
		return false, r.stop(commaOr(end))
	}
	switch c := r.src[r.pos]; {
	case c == ',':
		r.pos++
		return false, true
	case c == end:
		r.pos++
		return true, true
	case r.commaMissing(from):
		r.fix(fixMissingComma)
		return false, true
	}
	return false, r.stop(commaOr(end))
}

// entry reads one member or element onto the stack. If wide is set, it reads the value
// with wideValue.
func (r *reader) entry(k kind, wide bool) bool {
	at := len(r.stack)
	r.stack = append(r.stack, value{})
	var v value
	ok := true
	switch {
	case k != object:
	case wide:
		v.key, ok = r.wideKey()
	default:
		v.key, ok = r.key()
	}
	switch {
	case !ok:
	case wide:
		ok = r.wideValue(&v, k)
	default:
		ok = r.value(&v)
	}
	if ok {
		r.progress, r.stack[at] = true, v
	}
	return ok
}

func commaOr(end byte) string {
	if end == '}' {
		return "a comma or }"
	}
	return "a comma or ]"
}

// commaForgotten reports whether the next member may start here without a comma: on a new
// line or after a bracket, but not with an unquoted word.
func (r *reader) commaMissing(from int) bool {
	if !strings.Contains(r.src[from:r.pos], "\n") && r.src[from-1] != '}' && r.src[from-1] != ']' {
		return false
	}
	c := r.src[r.pos]
	return c == '"' || c == '{' || c == '['
}

// key reads a member's key and the colon.
func (r *reader) key() (string, bool) {
	if r.pos >= len(r.src) {
		return "", r.fail(cut, "a key")
	}
	var k value
	c := r.src[r.pos]
	switch _, quoted := quoteAt(r.src[r.pos:]); {
	case quoted:
		if !r.text(&k, true) {
			return "", false
		}
	case isLetter(c) || c == '$' || '0' <= c && c <= '9':
		k.str = r.word()
		r.fix(fixBareKey)
	default:
		return "", r.stop("a key")
	}
	if !r.space() {
		return "", false
	}
	if r.pos >= len(r.src) || r.src[r.pos] != ':' {
		return "", r.stop("a colon")
	}
	r.pos++
	r.progress = true
	return k.str, r.space()
}

// word reads an unquoted word.
func (r *reader) word() string {
	start := r.pos
	for r.pos < len(r.src) {
		c := r.src[r.pos]
		if !isLetter(c) && c != '$' && c != '-' && (c < '0' || c > '9') {
			break
		}
		r.pos++
	}
	return r.src[start:r.pos]
}

// space skips white space and comments.
func (r *reader) space() bool {
	for r.pos < len(r.src) {
		switch c := r.src[r.pos]; {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			r.pos++
		case c == '/' || c == '#':
			if !r.comment() {
				return r.fault == sound
			}
		case c == '\v' || c == '\f' || c >= utf8.RuneSelf:
			n := nonJSONSpace(r.src[r.pos:])
			if n == 0 {
				return true
			}
			r.fix(fixSpace)
			r.pos += n
		default:
			return true
		}
	}
	return true
}

// comment skips a comment. It returns false without a fault if there is none.
func (r *reader) comment() bool {
	rest, end := r.src[r.pos:], "\n"
	switch {
	case strings.HasPrefix(rest, "/*"):
		end = "*/"
	case !strings.HasPrefix(rest, "//") && rest[0] != '#':
		return false
	}
	n := strings.Index(rest, end)
	if n < 0 && !r.progress { // "[#12]" in prose
		return r.fail(broken, "a value")
	}
	if n < 0 {
		r.pos = len(r.src)
		return r.fail(cut, "the end of a comment")
	}
	r.fix(fixComment)
	r.pos += n + len(end)
	return true
}

// oddSpace returns the length of white space that JSON does not allow.
func nonJSONSpace(s string) int {
	c, n := utf8.DecodeRuneInString(s)
	switch c {
	case '\v', '\f', '\u00a0', '\u2000', '\u2001', '\u2002', '\u2003', '\u2004', '\u2005', '\u2006', '\u2007', '\u2008', '\u2009', '\u200a', '\u205f', '\u200b', '\u2028', '\u2029', '\u202f', '\u3000', '\ufeff':
		return n
	}
	return 0
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }

// where describes the line and column where reading stopped, and the text there.
func (r *reader) where() string {
	p := min(r.pos, len(r.src))
	line := 1 + strings.Count(r.src[:p], "\n")
	column := 1 + utf8.RuneCountInString(r.src[strings.LastIndexByte(r.src[:p], '\n')+1:p])
	found := excerpt(r.src[p:], 20)
	if found == "" {
		found = "the end"
	} else {
		found = quote(found)
	}
	return fmt.Sprintf("line %d, column %d: expected %s, found %s", line, column, r.expected, found)
}
