package invisible

import (
	"fmt"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// In iterates over the invisible characters of a text with their byte offsets. It skips
// joiners and selectors that emoji and joining scripts need, one per position, and
// Windows line breaks.
func In(s string) iter.Seq2[int, rune] {
	return func(yield func(int, rune) bool) {
		var p position
		for i, r := range s {
			if ClassOf(r) != "" {
				p.after, _ = utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
				p.end = i+utf8.RuneLen(r) == len(s)
				if !p.needs(r) && !yield(i, r) {
					return
				}
			}
			if p.before = r; r != emojiStyle && (r < fairestSkin || r > darkestSkin) {
				p.base = r
			}
		}
	}
}

// position is the context of a joiner, selector or carriage return.
type position struct {
	before rune
	base   rune // before, ignoring styles
	after  rune
	end    bool // nothing follows
}

// needs reports whether such a character belongs there.
func (p position) needs(r rune) bool {
	switch r {
	case textStyle, emojiStyle:
		numbered := p.before == '#' || p.before == '*' || p.before >= '0' && p.before <= '9'
		return pictured(p.before) || numbered && p.after == keycap
	case joiner:
		if !p.end && pictured(p.base) && pictured(p.after) {
			return true
		}
	case nonJoiner:
	case '\r':
		return !p.end && p.after == '\n'
	default:
		return false
	}
	return unicode.In(p.before, joined...) && unicode.In(p.after, joined...)
}

// pictured reports whether a character can be an emoji.
func pictured(r rune) bool {
	return unicode.In(r, unicode.So, unicode.Sm) || strings.ContainsRune(signs, r)
}

// Show escapes the invisible characters of a text and counts them. It returns escaped
// text unchanged.
func Show(s string) (string, int) {
	var b strings.Builder
	n, done := 0, 0
	for i, r := range In(s) {
		b.WriteString(s[done:i])
		fmt.Fprintf(&b, `\u{%04X}`, r)
		done = i + utf8.RuneLen(r)
		n++
	}
	if n == 0 {
		return s, 0
	}
	b.WriteString(s[done:])
	return b.String(), n
}
