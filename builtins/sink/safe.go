package sink

import (
	"strings"
	"unicode"
)

// Safe makes text from models, tools and files fit for a terminal: control
// characters other than line breaks and tabs, and characters that hide or
// reorder text, come out visible.
func Safe(s string) string {
	clean := true
	for _, r := range s {
		if hidden(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r < 0x20:
			b.WriteRune(0x2400 + r) // the picture of the control character
		default:
			b.WriteRune(unicode.ReplacementChar)
		}
	}
	return b.String()
}

func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r == 0x200c || r == 0x200d: // joiners that scripts and emoji need
		return false
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// oneLine is the beginning of a text on one line, cut to n columns.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(Safe(s)), " ")
	if n < 1 {
		return ""
	}
	used := 0
	for i, r := range s {
		w := columns(r)
		if used+w > n-1 && i+len(string(r)) < len(s) {
			return s[:i] + "…"
		}
		used += w
	}
	return s
}

// columns is how wide a terminal draws a rune, near enough.
func columns(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r) || r == 0x200c || r == 0x200d:
		return 0
	case r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0x1f300 && r <= 0x1faff):
		return 2
	}
	return 1
}

func width(s string) int {
	n := 0
	for _, r := range s {
		n += columns(r)
	}
	return n
}
