package tty

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/invisible"
	"github.com/pexctl/pex/engine/text"
)

// Safe escapes text of models, tools and files for a terminal: it makes control
// characters other than line breaks and tabs, characters that hide or reorder text,
// and invalid UTF-8 visible. It leaves other text unchanged, except that \r\n becomes
// \n.
func Safe(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if utf8.ValidString(s) && strings.IndexFunc(s, mustReplace) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s { // an invalid byte is U+FFFD
		b.WriteRune(replacement(r))
	}
	return b.String()
}

// replacement returns the visible replacement of a character that must not reach a terminal.
func replacement(r rune) rune {
	const del, picture, deleted = 0x7f, 0x2400, '␡'
	switch {
	case !mustReplace(r):
		return r
	case r < 0x20:
		return picture + r
	case r == del:
		return deleted
	}
	return unicode.ReplacementChar
}

// mustReplace reports whether a character must be replaced. Joiners and selectors, which
// scripts and emoji need, and private-use characters are harmless.
func mustReplace(r rune) bool {
	const nonJoiner, joiner = 0x200c, 0x200d
	switch invisible.ClassOf(r) {
	case "", invisible.Selector, invisible.Private:
		return false
	case invisible.Control, invisible.Tag, invisible.Bidi, invisible.Blank:
	}
	return r != nonJoiner && r != joiner
}

// Flat returns a safe text on one line.
func Flat(s string) string { return text.OneLine(Safe(s)) }

// OneLine returns a safe text on one line, truncated to n columns.
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

// cut appends an ellipsis, if there is room for it.
func cut(s string, n int) string {
	if n < 1 {
		return ""
	}
	return strings.TrimRight(s, " ") + "…"
}

// Tail returns the end of a safe text on one line, in n columns.
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
