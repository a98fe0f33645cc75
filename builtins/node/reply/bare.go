package reply

import (
	"strings"

	"github.com/pexctl/pex/engine/text"
)

// bare reads a literal, a number, or unquoted text up to a comma, a bracket, a quote, a
// comment or the end of the line.
func (r *reader) bare(v *value, in kind) bool {
	start := r.pos
	for r.pos < len(r.src) && !r.bareEnd(start) {
		r.pos++
	}
	token := strings.TrimRight(r.src[start:r.pos], " \t\r")
	var next byte
	if r.pos < len(r.src) {
		next = r.src[r.pos]
	}
	if token == "" || next == '{' || next == '[' {
		r.pos = start
		return r.stop("a value")
	}
	quoted := next == '"' && start+len(token) == r.pos
	if !quoted && r.plainWord(v, token) {
		return true
	}
	if next == 0 && r.pos >= len(r.src) {
		return r.fail(cut, "the end of a value")
	}
	if !bareText(token, in) {
		r.pos = start
		return r.fail(broken, "a value")
	}
	if quoted { // only the opening quote is missing
		r.pos++
		if r.quoteRole(r.pos, in, false) != closes {
			return r.fail(broken, "a comma or a bracket")
		}
	}
	r.fix(fixBareText)
	v.kind, v.str, v.raw = stringKind, token, quote(token)
	return true
}

// bareEnd reports whether unquoted text that began at start ends at pos.
func (r *reader) bareEnd(start int) bool {
	switch c := r.src[r.pos]; c {
	case ',', '{', '}', '[', ']', '\n', '"', '`':
		return true
	case '/':
		rest := r.src[r.pos:]
		return strings.HasPrefix(rest, "/*") || strings.HasPrefix(rest, "//") && (r.pos == start || r.src[r.pos-1] != ':')
	case '#':
		return r.pos > start && r.src[r.pos-1] == ' '
	}
	return false
}

// plainWord reads a token that is a literal or a number in JSON, Python or JavaScript
// notation.
func (r *reader) plainWord(v *value, token string) bool {
	word := reader{src: token, limit: 1}
	ok := false
	switch c := token[0]; {
	case isLetter(c):
		ok = word.literal(v)
	case c == '-' || c == '+' || c == '.' || '0' <= c && c <= '9':
		ok = word.number(v)
	}
	if !ok || word.pos != len(token) || strings.EqualFold(strings.TrimLeft(token, "+-"), "nan") || strings.HasSuffix(token, "Infinity") {
		*v = value{key: v.key}
		return false
	}
	r.fixes |= word.fixes
	r.count += word.count
	return true
}

// halfNumber matches an incomplete number.
var halfNumber = text.Regexp(`^[-+.]*$|^[-+]?[0-9]+\.?[0-9]*([eE][-+]?[0-9]*)?$`)

// bareText reports whether a token can be text without quotes. Ellipses, NaN, incomplete
// numbers and calls are not text.
func bareText(s string, in kind) bool {
	switch {
	case strings.Contains(s, "...") || strings.Contains(s, "…"), halfNumber().MatchString(s), strings.ContainsAny(s, `\<>;`),
		strings.Contains(s, ": "), strings.HasSuffix(s, ":"), in == array && strings.Contains(s, ":") && !strings.Contains(s, "://"),
		strings.Count(s, "(") != strings.Count(s, ")"), strings.Contains(s, "' "), strings.HasSuffix(s, "'"), s[0] == '=':
		return false
	case strings.EqualFold(strings.TrimLeft(s, "+-"), "nan"), strings.HasSuffix(s, "Infinity"):
		return false
	}
	first, _, several := strings.Cut(s, " ")
	for _, word := range [...]string{"true", "false", "null"} {
		if len(first) > 1 && strings.HasPrefix(word, strings.ToLower(first)) {
			return false // an incomplete literal, or one followed by more text
		}
	}
	return !several || in == object || !halfNumber().MatchString(first) // [1 2 3] is not text
}
