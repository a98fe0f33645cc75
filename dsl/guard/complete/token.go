package complete

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lexeme is a token of an expression for editors: any text has some.
type lexeme struct {
	kind     lexemeKind
	from, to int
	closed   bool // of a text: it has a closing quote
}

type lexemeKind int

const (
	isSign lexemeKind = iota
	isName
	isFigure
	isQuoted
)

// longSigns are operators of two characters.
var longSigns = []string{"?.", "==", "!=", "<=", ">=", "&&", "||", "??", ".."}

// lexemes splits an expression into tokens. Characters that are not part of the
// language become signs.
func lexemes(src string) (out []lexeme) {
	for at := 0; at < len(src); {
		r, size := utf8.DecodeRuneInString(src[at:])
		t := lexeme{from: at, to: at + size}
		switch {
		case unicode.IsSpace(r):
			at = t.to
			continue
		case r == '\'' || r == '"' || r == '`':
			t.kind = isQuoted
			t.to, t.closed = closing(src, at)
		case unicode.IsLetter(r) || r == '_' || r == '$':
			t.kind = isName
			t.to = at + run(src[at:], func(r rune) bool {
				return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '$'
			})
		case unicode.IsDigit(r):
			t.kind = isFigure
			t.to = at + run(src[at:], func(r rune) bool { return unicode.IsDigit(r) || unicode.IsLetter(r) || r == '_' })
			if rest := src[t.to:]; len(rest) > 1 && rest[0] == '.' && unicode.IsDigit(rune(rest[1])) {
				t.to += 1 + run(rest[1:], unicode.IsDigit)
			}
		default:
			for _, p := range longSigns {
				if strings.HasPrefix(src[at:], p) {
					t.to = at + len(p)
				}
			}
		}
		out = append(out, t)
		at = t.to
	}
	return out
}

// run returns the length of the prefix whose characters satisfy of.
func run(s string, of func(rune) bool) int {
	if i := strings.IndexFunc(s, func(r rune) bool { return !of(r) }); i >= 0 {
		return i
	}
	return len(s)
}

// closing returns the end of the text whose quote is at a byte.
func closing(src string, at int) (end int, closed bool) {
	quote := src[at]
	for i := at + 1; i < len(src); i++ {
		switch {
		case src[i] == '\\' && quote != '`':
			i++
		case src[i] == quote:
			return i + 1, true
		}
	}
	return len(src), false
}
