package reply

import (
	"strings"
)

// literal reads true, false, null and their spellings in other languages.
func (r *reader) literal(v *value) bool {
	start := r.pos
	word := r.word()
	switch word {
	case "true", "false":
		v.kind, v.raw = boolean, word
		return true
	case "null":
		v.raw = word
		return true
	}
	switch lower := strings.ToLower(word); lower {
	case "true", "false":
		r.fix(fixLiteral)
		v.kind, v.raw = boolean, lower
	case "null", "none", "nil":
		r.fix(fixLiteral)
		v.raw = "null"
	case "nan", "infinity", "undefined":
		r.fix(fixNaN)
		v.raw = "null"
	default:
		if r.pos < len(r.src) {
			r.pos = start
		}
		return r.stop("a value")
	}
	return true
}

// number reads a number. Notations that only other languages allow are rewritten. A
// number with leading zeros becomes a string, since it is rarely a quantity.
func (r *reader) number(v *value) bool {
	start := r.pos
	for r.pos < len(r.src) && numberByte(r.src[r.pos]) {
		r.pos++
	}
	word := r.src[start:r.pos]
	v.kind, v.raw = number, word
	if validNumber(word) {
		return true
	}
	if bare := strings.TrimLeft(word, "+-"); bare == "" && strings.HasPrefix(r.src[r.pos:], "Infinity") {
		r.pos += len("Infinity")
		r.fix(fixNaN)
		v.kind, v.raw = null, "null"
		return true
	}
	if zeros := strings.TrimLeft(word, "0123456789"); zeros == "" {
		r.fix(fixNumber)
		v.kind, v.str, v.raw = stringKind, word, quote(word)
		return true
	}
	word = strings.TrimPrefix(word, "+")
	minus := strings.HasPrefix(word, "-")
	word = strings.TrimPrefix(word, "-")
	if strings.HasPrefix(word, ".") {
		word = "0" + word
	}
	if strings.HasSuffix(word, ".") {
		word += "0"
	}
	if minus {
		word = "-" + word
	}
	if !validNumber(word) {
		if r.pos < len(r.src) {
			r.pos = start
		}
		return r.stop("a value")
	}
	r.fix(fixNumber)
	v.raw = word
	return true
}

func numberByte(c byte) bool {
	return '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

// validNumber reports whether s is a number in JSON's grammar.
func validNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	n := digits(s)
	if n == 0 || n > 1 && s[0] == '0' {
		return false
	}
	if s = s[n:]; strings.HasPrefix(s, ".") {
		if n = digits(s[1:]); n == 0 {
			return false
		}
		s = s[1+n:]
	}
	if s != "" && s[0]|0x20 == 'e' {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		n = digits(s)
		return n > 0 && n == len(s)
	}
	return s == ""
}

func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}
