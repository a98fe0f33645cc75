package reply

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// lines splits a string that lists several steps, one per line or numbered within one
// line. It removes list markers. If some lines have a marker, a line without one
// continues the step before it.
func lines(s string) []string {
	s = strings.TrimSpace(s)
	if !strings.Contains(s, "\n") {
		return inline(s)
	}
	var out []string
	marks := false
	for line := range strings.Lines(s) {
		body, marked := unmark(strings.TrimSpace(line))
		switch {
		case body == "":
		case !marked && marks && len(out) > 0:
			out[len(out)-1] += "\n" + body
		default:
			out = append(out, body)
		}
		marks = marks || marked
	}
	return out
}

// inline splits "1. do this 2. do that". A string without numbers that count from 1 is
// one step.
func inline(s string) []string {
	body, marked := unmark(s)
	if !marked || digits(s) == 0 {
		return []string{body}
	}
	var out []string
	for n := 2; ; n++ {
		i := nextNumber(body, n)
		if i < 0 {
			break
		}
		out = append(out, strings.TrimRight(strings.TrimSpace(body[:i]), ",;"))
		body, _ = unmark(strings.TrimSpace(body[i:]))
	}
	return append(out, body)
}

// nextNumber finds " n." or " n)" in a text.
func nextNumber(s string, n int) int {
	mark := string(rune('0' + n%10))
	if n > 9 {
		mark = string(rune('0'+n/10)) + mark
	}
	for _, end := range []string{". ", ") "} {
		if i := strings.Index(s, " "+mark+end); i >= 0 && n < 100 {
			return i + 1
		}
	}
	return -1
}

// unmark removes a bullet or number from a line.
func unmark(line string) (string, bool) {
	for _, bullet := range []string{"- ", "* ", "+ ", "• ", "– ", "— "} {
		if rest, ok := strings.CutPrefix(line, bullet); ok {
			return strings.TrimSpace(rest), true
		}
	}
	rest, step := line, false
	if len(rest) > 4 && strings.EqualFold(rest[:4], "step") {
		rest, step = strings.TrimLeft(rest[4:], " _#"), true
	}
	n := digits(rest)
	if n == 0 || n > 3 {
		return line, false
	}
	rest = rest[n:]
	c, size := utf8.DecodeRuneInString(rest)
	switch {
	case strings.ContainsRune(".):", c) && (len(rest) == size || unicode.IsSpace(rune(rest[size]))):
	case step && (c == '-' || c == ':'):
	default:
		return line, false
	}
	return strings.TrimSpace(rest[size:]), true
}
