package opensearch

import (
	"fmt"
	"strings"
)

// directives maps pattern letters of Java's DateTimeFormatter to strftime directives.
// Times are always UTC, so the zone offsets "X" and "XXX" become the letter Z.
var directives = map[string]string{
	"yyyy": "%Y", "uuuu": "%Y", "YYYY": "%G", "yy": "%y", "uu": "%y", "MMMM": "%B", "MMM": "%b",
	"MM": "%m", "dd": "%d", "DDD": "%j", "EEEE": "%A", "EEE": "%a", "EE": "%a", "E": "%a", "HH": "%H",
	"hh": "%I", "mm": "%M", "ss": "%S", "SSSSSS": "%f", "a": "%p", "e": "%u", "ww": "%V", "xx": "%z",
	"XX": "%z", "Z": "%z", "XXX": "Z", "X": "Z", "z": "%Z", "VV": "%Z",
}

// strftimeOf converts a Java pattern to strftime. The error names the letters
// without a counterpart.
func strftimeOf(pattern string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(pattern); {
		c := pattern[i]
		switch {
		case c == '\'':
			quoted, n := literal(pattern[i:])
			b.WriteString(strings.ReplaceAll(quoted, "%", "%%"))
			i += n
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			run := pattern[i : i+runOf(pattern[i:])]
			directive, ok := directives[run]
			if !ok {
				return "", fmt.Errorf("strftime has nothing for %s", run)
			}
			b.WriteString(directive)
			i += len(run)
		case strings.IndexByte("[]{}#", c) >= 0:
			return "", fmt.Errorf("strftime has nothing for %c", c)
		case c == '%':
			b.WriteString("%%")
			i++
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), nil
}

// runOf returns how often the first letter of a pattern is repeated.
func runOf(s string) int {
	n := 1
	for n < len(s) && s[n] == s[0] {
		n++
	}
	return n
}

// literal returns a quoted text, in which two quotes mean one, and its length in
// the pattern.
func literal(s string) (text string, length int) {
	if strings.HasPrefix(s, "''") {
		return "'", 2
	}
	var b strings.Builder
	i := 1
	for ; i < len(s); i++ {
		if s[i] != '\'' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '\'' {
			b.WriteByte('\'')
			i++
			continue
		}
		return b.String(), i + 1
	}
	return b.String(), i
}
