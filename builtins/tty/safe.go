package tty

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/unseen"
)

// Safe makes text from models, tools and files fit for a terminal: control
// characters other than line breaks and tabs, characters that hide or reorder
// text, and bytes that are no UTF-8 come out visible. What is safe stays as it
// is; the line break of Windows becomes a plain one.
func Safe(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if utf8.ValidString(s) && strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s { // a byte that is no UTF-8 comes as U+FFFD
		b.WriteRune(shown(r))
	}
	return b.String()
}

// shown is a character that stands for one that must not reach a terminal.
func shown(r rune) rune {
	const del, picture, deleted = 0x7f, 0x2400, '␡'
	switch {
	case !hidden(r):
		return r
	case r < 0x20:
		return picture + r
	case r == del:
		return deleted
	}
	return unicode.ReplacementChar
}

// hidden is of a character by itself: joiners and selectors, which scripts and
// emoji need, and what fonts draw by agreement do no harm to a screen.
func hidden(r rune) bool {
	const nonJoiner, joiner = 0x200c, 0x200d
	switch unseen.ClassOf(r) {
	case "", unseen.Selector, unseen.Private:
		return false
	case unseen.Control, unseen.Tag, unseen.Bidi, unseen.Blank:
	}
	return r != nonJoiner && r != joiner
}

// Flat is a text on one line, safe.
func Flat(s string) string { return text.OneLine(Safe(s)) }

// OneLine is the beginning of a text on one line, safe and cut to n columns.
func OneLine(s string, n int) string {
	s = Flat(s)
	if Width(s) <= n {
		return s
	}
	used := 0
	for i, r := range s {
		if used += columns(r); used > n-1 {
			return cut(s[:i], n)
		}
	}
	return s
}

// cut puts the mark of a cut behind a text, where there is room for it.
func cut(s string, n int) string {
	if n < 1 {
		return ""
	}
	return strings.TrimRight(s, " ") + "…"
}

// Tail is the end of a text on one line, in n columns.
func Tail(s string, n int) string {
	r := []rune(Flat(s))
	for used, i := 0, len(r)-1; i >= 0; i-- {
		if used += columns(r[i]); used > n-1 {
			if n < 1 {
				return ""
			}
			return "…" + string(r[i+1:])
		}
	}
	return string(r)
}
