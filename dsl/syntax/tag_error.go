package syntax

import (
	"strings"

	"github.com/pexctl/pex/engine/text"
)

// bangMessages matches the parser's messages for an expression that starts with !
// and is not a valid tag.
var bangMessages = text.Regexp(`did not find expected (?:whitespace or line break|alphabetic or numeric character|comment or line break|',' or)|mapping keys are not allowed|mapping values are not allowed`)

// bangValue matches the ! at the start of a value: after a key, in a list, or in
// brackets.
var bangValue = text.Regexp(`(?:[:,]\s+|^\s*-\s+|[\[{]\s*)(![^\s!'"])`)

// unquotedBang finds an unquoted expression that starts with !, in the line that
// the parser names or next to it.
func unquotedBang(src *Source, line int, message string) (at Position, expression string) {
	if !bangMessages().MatchString(message) {
		return Position{}, ""
	}
	for _, n := range []int{line, line - 1, line + 1} {
		s := src.line(n)
		if len(s) > maxFlowLine {
			continue
		}
		m := bangValue().FindStringSubmatchIndex(s)
		if m == nil || quoteOpen(s[:m[2]]) {
			continue
		}
		end := len(s)
		if strings.ContainsAny(s[:m[2]], "[{") {
			end = m[2] + flowEnd(s[m[2]:])
		}
		expression, _, _ = strings.Cut(s[m[2]:end], " #")
		return Position{src, n, len([]rune(s[:m[2]])) + 1}, strings.TrimSpace(expression)
	}
	return Position{}, ""
}

func quoteOpen(before string) bool {
	return strings.Count(before, `"`)%2 == 1 || strings.Count(before, "'")%2 == 1
}

// flowEnd returns the end of an expression in flow style: a comma or a closing
// bracket outside its own brackets.
func flowEnd(s string) int {
	depth := 0
	for i, c := range s {
		switch c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return i
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return len(s)
}

// requote returns a text in the quotes that need the fewest escapes.
func requote(s string) string {
	if strings.Contains(s, "'") && !strings.ContainsAny(s, `"\`) {
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}
