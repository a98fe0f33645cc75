package jsonpath

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// text parses a string literal in single or double quotes.
func (p *parser) text() string {
	quote := p.peek()
	start := p.at
	p.at++
	var b strings.Builder
	for {
		if p.at >= len(p.src) {
			p.fail(start, "the string is not closed", "")
		}
		switch c := p.src[p.at]; {
		case c == quote:
			p.at++
			return b.String()
		case c == '\\':
			p.escape(&b, quote)
		case c < 0x20:
			p.fail(p.at, "the string contains a control character", `write it as an escape: \n, \t or \u0000`)
		default:
			_, n := utf8.DecodeRuneInString(p.src[p.at:])
			b.WriteString(p.src[p.at : p.at+n])
			p.at += n
		}
	}
}

const (
	escapes  = `bfnrt/\`
	escapeds = "\b\f\n\r\t/\\"
)

func (p *parser) escape(b *strings.Builder, quote byte) {
	start := p.at
	p.at++
	c := p.peek()
	p.at++
	if c == quote {
		b.WriteByte(quote)
		return
	}
	if i := strings.IndexByte(escapes, c); i >= 0 && c != 0 {
		b.WriteByte(escapeds[i])
		return
	}
	if c != 'u' {
		p.at = start
		p.fail(start, "unknown escape in the string", `escapes are \b \f \n \r \t \/ \\ \u0000 and the quote itself`)
	}
	r := p.hex(start)
	if utf16.IsSurrogate(r) {
		low := rune(0)
		if p.take(`\u`) {
			low = p.hex(start)
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			p.fail(start, "the string contains half of a surrogate pair", "")
		}
	}
	b.WriteRune(r)
}

func (p *parser) hex(start int) rune {
	if p.at+4 > len(p.src) {
		p.fail(start, `\u needs four hexadecimal digits`, "")
	}
	n, err := strconv.ParseUint(p.src[p.at:p.at+4], 16, 32)
	if err != nil {
		p.fail(start, `\u needs four hexadecimal digits`, "")
	}
	p.at += 4
	return rune(n)
}

// number parses a number literal.
func (p *parser) number() json.Number {
	start := p.at
	p.take("-")
	digits := func() (n int) {
		for '0' <= p.peek() && p.peek() <= '9' {
			p.at++
			n++
		}
		return n
	}
	first := p.peek()
	ok := digits() > 0 && (first != '0' || p.src[p.at-1] == '0' && (p.at-start == 1 || p.at-start == 2 && p.src[start] == '-'))
	if ok && p.take(".") {
		ok = digits() > 0
	}
	if ok && p.peek()|0x20 == 'e' {
		p.at++
		if !p.take("-") {
			p.take("+")
		}
		ok = digits() > 0
	}
	if !ok {
		p.fail(start, "the number is not a valid JSON number", "")
	}
	return json.Number(p.src[start:p.at])
}
