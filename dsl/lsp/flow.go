package lsp

import "strings"

// flow reads values between braces and brackets. Where they are not closed, it
// ends at a line that begins at the parent's column with a key.
type flow struct {
	*outliner
	parent int
	over   bool // it ended before it was closed
}

func (f *flow) value(n *node, depth int) {
	f.nodes++
	n.from = f.at
	switch {
	case depth > maxDepth || f.nodes > maxNodes:
		f.at, f.over = len(f.s), true
	case f.s[f.at] == '{':
		n.kind, n.style = mapping, '{'
		f.inside(n, '}', depth)
	case f.s[f.at] == '[':
		n.kind, n.style = sequence, '['
		f.inside(n, ']', depth)
	default:
		f.word(n)
		return
	}
	n.to = f.at
}

// inside reads to the closer.
func (f *flow) inside(n *node, closer byte, depth int) {
	f.at++
	for f.space(); f.at < len(f.s) && !f.over; f.space() {
		switch c := f.s[f.at]; {
		case c == closer:
			f.at++
			return
		case c == ',' || c == '}' || c == ']' || c == ':':
			f.at++
		case closer == '}':
			f.entry(n, depth)
		default:
			it := &node{parent: n}
			n.kids = append(n.kids, it)
			f.value(it, depth+1)
		}
	}
}

// entry reads a key and its value.
func (f *flow) entry(n *node, depth int) {
	k := &node{parent: n}
	n.kids = append(n.kids, k)
	before := f.at
	f.word(k)
	if f.at == before {
		f.at++ // a brace as a key: it is passed
	}
	k.key, k.keyFrom, k.keyTo = k.text, k.from, k.to
	k.text, k.style = "", 0
	f.space()
	k.from, k.to = f.at, f.at
	if f.over || f.at >= len(f.s) || f.s[f.at] != ':' {
		k.from, k.to = k.keyTo, k.keyTo
		return
	}
	f.at++
	k.from, k.to = f.at, f.at
	f.space()
	if f.at < len(f.s) && !f.over && strings.IndexByte(",}]", f.s[f.at]) < 0 {
		f.value(k, depth+1)
	}
}

// word reads a scalar.
func (f *flow) word(n *node) {
	n.from = f.at
	if c := f.s[f.at]; c == '"' || c == '\'' {
		if end := f.closing(f.at, c, f.parent); end >= 0 {
			n.style, n.text, n.to = c, f.s[f.at+1:end], end+1
			f.at = n.to
			return
		}
		f.unclosed(n, c)
		return
	}
	end := f.at
	for end < len(f.s) && strings.IndexByte(",{}[]\r\n", f.s[end]) < 0 && (f.s[end] != ':' || !f.endsWord(end+1) && f.s[end+1] != ',') {
		end++
	}
	n.text = strings.TrimRight(f.s[f.at:end], " \t")
	n.to = f.at + len(n.text)
	if f.at = end; end == n.from && f.at < len(f.s) {
		f.at++ // a character that begins nothing
	}
}

// unclosed is a text whose second quote is still to be typed: what stands on its
// line, but for the brackets at its end, which editors write on their own.
func (f *flow) unclosed(n *node, quote byte) {
	line := strings.TrimRight(f.s[f.at+1:f.lineEnd(f.at)], " \t\r}]")
	n.style, n.text, n.to = quote, line, f.at+1+len(line)
	f.at = n.to
}

// space passes blanks, comments and lines, as long as they belong to the flow.
func (f *flow) space() {
	for f.at < len(f.s) && !f.over {
		switch c := f.s[f.at]; {
		case c == ' ' || c == '\t' || c == '\r':
			f.at++
		case c == '#' && (f.at == 0 || strings.IndexByte(" \t\n", f.s[f.at-1]) >= 0):
			f.at = f.lineEnd(f.at)
		case c == '\n':
			line := f.s[f.at+1 : f.lineEnd(f.at+1)]
			rest := strings.TrimLeft(line, " ")
			if rest != "" && len(line)-len(rest) <= f.parent && strings.IndexByte("}]#", rest[0]) < 0 {
				f.over = true
				return
			}
			f.at++
		default:
			return
		}
	}
}
