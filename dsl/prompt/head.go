package prompt

import (
	"fmt"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
)

// head is a reference up to its default or its end.
type head struct {
	ns      string
	name    string // as written
	filters []string
	stop    stop
	end     int // after the closer or the ":-"; otherwise where parsing stopped
}

// stop is the reason for the end of a head.
type stop int

const (
	foreign  stop = iota // not a reference: another namespace, or none
	closes               // the closer
	fallback             // ":-"
	computed             // a brace inside the name
	mismatch             // the closer of the other spelling
	broken               // the end of the line, or a quote
)

// head parses the head that starts at a "${" or "$<".
func (p *parser) head(at int) head {
	ns, i := p.namespace(at + 2)
	if ns == "" {
		return head{stop: foreign}
	}
	h := head{ns: ns}
	start, pieces := i, []string{}
	h.stop, h.end = broken, len(p.src)
	for h.end == len(p.src) && i < len(p.src) {
		switch c := p.src[i]; {
		case c == '|':
			pieces, start = append(pieces, p.src[start:i]), i+1
		case c == closing(p.src[at+1]):
			h.stop, h.end = closes, i+1
		case c == ':' && strings.HasPrefix(p.src[i:], ":-"):
			h.stop, h.end = fallback, i+2
		case c == '{' || c == '<' || p.opens(i):
			h.stop, h.end = computed, i
		case c == '}' || c == '>':
			h.stop, h.end = mismatch, i
		case c == '\n' || c == '"' || c == '\'' || c == '`':
			h.stop, h.end = broken, i
		default:
			i++
			continue
		}
		if c := p.src[i]; c == '|' {
			i++
		} else {
			break
		}
	}
	pieces = append(pieces, p.src[start:i])
	h.name, h.filters = pieces[0], pieces[1:]
	return h
}

// namespace parses "parameters." and returns the offset after the dot; ns is ""
// if it is not a namespace of the options.
func (p *parser) namespace(i int) (ns string, next int) {
	i = p.blanks(i)
	word := p.word(i)
	j := p.blanks(i + len(word))
	for _, n := range p.namespaces() {
		if n == word && j < len(p.src) && p.src[j] == '.' {
			return n, j + 1
		}
	}
	return "", i
}

func (p *parser) blanks(i int) int {
	for i < len(p.src) && (p.src[i] == ' ' || p.src[i] == '\t') {
		i++
	}
	return i
}

// word returns the run of letters, digits and underscores at i.
func (p *parser) word(i int) string {
	end := i
	for end < len(p.src) && wordByte(p.src[end]) {
		end++
	}
	return p.src[i:end]
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// finish builds the reference of a head, or reports a mistake in it.
func (p *parser) finish(at int, h head, end int, parts []part) parseResult {
	before := len(p.problems)
	r := &reference{ns: h.ns, hasDefault: h.stop == fallback, fallback: parts}
	var ok bool
	if r.name, r.places, ok = split(h.name); !ok {
		p.report(BadName, at, end, fmt.Sprintf("invalid name %s: separate its parts with single dots, and write indexes as integers in brackets", strings.TrimSpace(h.ns+"."+h.name)), "")
	}
	if len(h.filters) > maxFilters {
		p.report(BadFilter, at, end, fmt.Sprintf("the reference has %[2]d filters; the maximum is %[1]d", maxFilters, len(h.filters)), "remove filters that repeat one another")
		h.filters = h.filters[:maxFilters]
	}
	for _, src := range h.filters {
		f, err := parseFilter(src)
		if err != nil {
			p.report(BadFilter, at, end, err.Error(), "").Advice = filterAdvice(f.name)
		}
		r.filters = append(r.filters, f)
	}
	switch {
	case ok && p.options.Partial != nil && h.ns == promptsNamespace:
		p.include(at, end, r)
	case ok && !r.hasDefault:
		p.check(at, end, r)
	}
	if len(p.problems) > before {
		r = nil
	}
	return parseResult{ref: r, next: end, closed: true}
}

func filterAdvice(name string) diag.Advice {
	hint := "the filters are " + filterForms + "; write a default last: ${parameters.x|trim:-default}"
	if near := diag.Nearest(name, []string{"json", "trim", "indent"}); near != "" {
		return diag.DidYouMean(name, near, hint)
	}
	return diag.Advice{Hint: hint}
}
