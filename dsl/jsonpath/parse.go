package jsonpath

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parser parses a path from left to right. It reports errors by panic(*Problem).
type parser struct {
	src   string
	at    int
	depth int
}

func (p *parser) fail(at int, message, hint string) {
	panic(&Problem{Offset: at, Message: message, Hint: hint})
}

// unexpected reports the current character and what was expected.
func (p *parser) unexpected(want, hint string) {
	if p.at >= len(p.src) {
		p.fail(p.at, "unexpected end of the path; expected "+want, hint)
	}
	r, _ := utf8.DecodeRuneInString(p.src[p.at:])
	p.fail(p.at, fmt.Sprintf("unexpected %q; expected %s", r, want), hint)
}

func (p *parser) peek() byte {
	if p.at < len(p.src) {
		return p.src[p.at]
	}
	return 0
}

func (p *parser) take(token string) bool {
	if strings.HasPrefix(p.src[p.at:], token) {
		p.at += len(token)
		return true
	}
	return false
}

func (p *parser) blanks() {
	for p.at < len(p.src) && strings.IndexByte(" \t\n\r", p.src[p.at]) >= 0 {
		p.at++
	}
}

// nested runs f one nesting level deeper.
func (p *parser) nested(f func()) {
	if p.depth++; p.depth > MaxDepth {
		p.fail(p.at, fmt.Sprintf("the path is nested more than %d levels deep", MaxDepth), "")
	}
	f()
	p.depth--
}

func (p *parser) path() query {
	if !p.take("$") {
		hint := ""
		if c := p.peek(); c == '.' || c == '[' {
			hint = "write $" + p.src
		} else if nameFirst(p.src) {
			hint = "write $." + p.src
		}
		p.unexpected("$", hint)
	}
	q := query{absolute: true, segments: p.segments()}
	if p.at < len(p.src) {
		p.unexpected("a segment", segmentHint(p.src[p.at:]))
	}
	return q
}

func segmentHint(rest string) string {
	switch {
	case strings.TrimSpace(rest) == "":
		return "remove the spaces at the end"
	case rest[0] == '-' || rest[0] == ' ':
		return "write a name with characters other than letters, digits and _ as ['a-name']"
	}
	return "write .name, ['name'], [0], [*], [1:3], [?@.x > 1] or ..name"
}

// segments parses all segments.
func (p *parser) segments() (out []segment) {
	for {
		start := p.at
		p.blanks()
		switch {
		case p.take(".."):
			out = append(out, segment{descend: true, selectors: p.descendant()})
		case p.take("."):
			out = append(out, segment{selectors: []selector{p.shorthand()}})
		case p.peek() == '[':
			out = append(out, segment{selectors: p.bracketed()})
		default:
			p.at = start
			return out
		}
	}
}

func (p *parser) descendant() []selector {
	if p.peek() == '[' {
		return p.bracketed()
	}
	return []selector{p.shorthand()}
}

// shorthand parses what may follow a dot: * or a name.
func (p *parser) shorthand() selector {
	if p.take("*") {
		return wildcard{}
	}
	if !nameFirst(p.src[p.at:]) {
		hint := "write a name with other characters as ['name']"
		if '0' <= p.peek() && p.peek() <= '9' {
			hint = "write an index as [0], and a name that starts with a digit as ['1a']"
		}
		p.unexpected("a name or *", hint)
	}
	start := p.at
	for p.at < len(p.src) && (nameFirst(p.src[p.at:]) || '0' <= p.peek() && p.peek() <= '9') {
		_, n := utf8.DecodeRuneInString(p.src[p.at:])
		p.at += n
	}
	if p.peek() == '(' {
		p.fail(start, "methods are not supported: ."+p.src[start:p.at]+"()", "use functions inside a filter: [?length(@.x) > 1]")
	}
	return name(p.src[start:p.at])
}

// nameFirst reports whether a text starts with a first character of a name.
func nameFirst(s string) bool {
	if s == "" {
		return false
	}
	c := s[0]
	return c == '_' || c >= 0x80 || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// bracketed parses [selector, ...].
func (p *parser) bracketed() (out []selector) {
	p.at++
	p.nested(func() {
		for {
			p.blanks()
			out = append(out, p.selector())
			p.blanks()
			if !p.take(",") {
				break
			}
		}
	})
	if !p.take("]") {
		p.unexpected("] or a comma", "")
	}
	return out
}

func (p *parser) selector() selector {
	switch c := p.peek(); {
	case c == '*':
		p.at++
		return wildcard{}
	case c == '?':
		p.at++
		p.blanks()
		return filter{p.or()}
	case c == '\'' || c == '"':
		return name(p.text())
	case c == ':' || c == '-' || '0' <= c && c <= '9':
		return p.indexOrSlice()
	case c == '(':
		p.unexpected("a selector", "scripts are not supported; write [-1] for the last element")
	case nameFirst(p.src[p.at:]):
		p.unexpected("a selector", "quote the name: ['name']")
	}
	p.unexpected("a selector", "write 'name', 0, *, 1:3 or ?@.x > 1")
	return nil
}

func (p *parser) indexOrSlice() selector {
	start := p.integer()
	before := p.at
	p.blanks()
	if !p.take(":") {
		p.at = before
		return index(*start)
	}
	s := slice{start: start, step: 1}
	p.blanks()
	s.end = p.integer()
	before = p.at
	p.blanks()
	if !p.take(":") {
		p.at = before
		return s
	}
	before = p.at
	p.blanks()
	if step := p.integer(); step != nil {
		s.step = *step
	} else {
		p.at = before
	}
	return s
}

// maxInteger is the largest interoperable JSON integer.
const maxInteger = 1<<53 - 1

// integer parses an integer, or returns nil if there is none.
func (p *parser) integer() *int {
	start := p.at
	p.take("-")
	digits := p.at
	for '0' <= p.peek() && p.peek() <= '9' {
		p.at++
	}
	text := p.src[start:p.at]
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if p.at == digits {
		p.unexpected("a digit", "")
	}
	if p.src[digits] == '0' && text != "0" {
		p.fail(start, text+" is not a valid integer: leading zeros and -0 are not allowed", "")
	}
	if err != nil || n > maxInteger || n < -maxInteger {
		p.fail(start, text+" is too large", "")
	}
	return &n
}
