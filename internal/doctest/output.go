package doctest

import (
	"regexp"
	"strings"
)

// variableTexts lists texts that differ between runs, with their replacements.
var variableTexts = []struct {
	text *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`\b([re])-\d{8}-\d{6}-[0-9a-f]{8}\b`), "$1-ID"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)?\b`), "TIME"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`), "TIME"},
	{regexp.MustCompile(`\b(\d+m)?\d+(\.\d+)?(µs|ms|s)(\b|$)`), "DURATION"},
	{regexp.MustCompile(`\b(sha256:)?[0-9a-f]{7,64}\b`), "DIGEST"},
	{regexp.MustCompile(` · DURATION`), ""}, // terminals omit it if it is zero
	{regexp.MustCompile(` {2,}`), " "},
	{regexp.MustCompile(`-{3,}`), "---"},
	{regexp.MustCompile(`(?m) +$`), ""},
}

var letter, digit = regexp.MustCompile(`[a-f]`), regexp.MustCompile(`\d`)

// Normal removes what differs between runs: ids of runs and evaluations, times, digests, durations, and the padding
// of columns.
func Normal(text string) string {
	for _, a := range variableTexts {
		text = a.text.ReplaceAllStringFunc(text, func(s string) string {
			if a.as == "DIGEST" && (!letter.MatchString(s) || !digit.MatchString(s)) {
				return s // a number, or a word
			}
			return a.text.ReplaceAllString(s, a.as)
		})
	}
	return text
}

// dots is a line that skips any number of output lines.
const dots = "..."

// Matches reports whether an output matches the page. A line of three dots matches any lines.
func Matches(want, got string) bool {
	lines := split(Normal(got))
	parts := pieces(split(Normal(want)))
	if !startsWith(lines, parts[0]) {
		return false
	}
	lines = lines[len(parts[0]):]
	for i, p := range parts[1:] {
		at := find(lines, p)
		if i == len(parts)-2 {
			at = endsAt(lines, p)
		}
		if at < 0 {
			return false
		}
		lines = lines[at+len(p):]
	}
	return len(parts) > 1 || len(lines) == 0
}

// Abridge shortens an output like the page: pieces between dots keep their number of lines and their first line. A
// piece whose first line no longer occurs is removed. A line that the page truncates with … and that still matches
// stays as it is.
func Abridge(want, got string) string {
	lines := split(abridge(want, got))
	for i, line := range lines {
		for _, short := range split(want) {
			if isTruncated(Normal(short), Normal(line)) {
				lines[i] = short
				break
			}
		}
	}
	return joinLines(lines)
}

func abridge(want, got string) string {
	lines, parts := split(got), pieces(split(want))
	if len(parts) == 1 {
		return joinLines(lines)
	}
	var out []string
	for i, p := range parts {
		switch {
		case i == 0:
			n := min(len(p), len(lines))
			out, lines = append(out, lines[:n]...), lines[n:]
			continue
		case i == len(parts)-1:
			out = append(append(out, dots), lines[max(0, len(lines)-len(p)):]...)
			continue
		}
		at := find(strings.Split(Normal(strings.Join(lines, "\n")), "\n"), []string{Normal(p[0])})
		if at >= 0 {
			n := min(at+len(p), len(lines))
			out, lines = append(append(out, dots), lines[at:n]...), lines[n:]
		}
	}
	return joinLines(out)
}

// pieces splits lines at dots. There is a piece, possibly empty, on each side.
func pieces(lines []string) [][]string {
	out := [][]string{nil}
	for _, line := range lines {
		if line == dots {
			out = append(out, nil)
			continue
		}
		out[len(out)-1] = append(out[len(out)-1], line)
	}
	return out
}

func startsWith(lines, piece []string) bool {
	if len(lines) < len(piece) {
		return false
	}
	for i := range piece {
		if !sameLine(lines[i], piece[i]) {
			return false
		}
	}
	return true
}

// sameLine compares two lines. A title may be truncated with … at different positions, depending on the width of other
// columns.
func sameLine(a, b string) bool {
	return a == b || isTruncated(a, b) || isTruncated(b, a)
}

func isTruncated(short, long string) bool {
	head, tail, cut := strings.Cut(short, "…")
	before, after, both := strings.Cut(long, "…")
	if both {
		return cut && tail == after && strings.HasPrefix(before, head)
	}
	return cut && len(head) > 0 && strings.HasPrefix(long, head) && strings.HasSuffix(long, tail)
}

// find returns the index of a piece in lines, or -1.
func find(lines, piece []string) int {
	for at := range len(lines) + 1 {
		if startsWith(lines[at:], piece) {
			return at
		}
	}
	return -1
}

// endsAt returns the index of a piece at the end of lines, or -1.
func endsAt(lines, piece []string) int {
	at := len(lines) - len(piece)
	if at < 0 || !startsWith(lines[at:], piece) {
		return -1
	}
	return at
}

// split splits an output into lines, without leading and trailing empty ones.
func split(text string) []string {
	text = strings.Trim(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func joinLines(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}
