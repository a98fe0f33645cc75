package syntax

import (
	"regexp"
	"strings"
)

// bangMessages are what the parser says of an expression that begins with ! and
// goes on as no tag can.
var bangMessages = regexp.MustCompile(`did not find expected (?:whitespace or line break|alphabetic or numeric character|comment or line break|',' or)|mapping keys are not allowed|mapping values are not allowed`)

// bangValue is the ! that begins a value: behind a key, in a list, or between
// brackets.
var bangValue = regexp.MustCompile(`(?:[:,]\s+|^\s*-\s+|[\[{]\s*)(![^\s!'"])`)

// unquotedBang looks for an expression that begins with ! and is without
// quotes, in the line that the parser names or next to it.
func unquotedBang(src *Source, line int, message string) (at Position, expression string) {
	if !bangMessages.MatchString(message) {
		return Position{}, ""
	}
	for _, n := range []int{line, line - 1, line + 1} {
		s := src.line(n)
		if len(s) > maxFlowLine {
			continue
		}
		m := bangValue.FindStringSubmatchIndex(s)
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

// flowEnd is where an expression between YAML's braces ends: at a comma or a
// closer that none of its own brackets holds.
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

// requoted is a text in the quotes that change least of it.
func requoted(s string) string {
	if strings.Contains(s, "'") && !strings.ContainsAny(s, `"\`) {
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}
