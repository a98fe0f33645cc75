package outline

import "strings"

// flow reads values between braces and brackets. Where they are not closed, it
// ends at a line that begins at the parent's column with a key.
type flow struct {
	*outliner
	parent int
	over   bool // it ended before it was closed
}

func (f *flow) value(n *Node, depth int) {
	f.nodes++
	n.From = f.at
	switch {
	case depth > MaxDepth || f.nodes > maxNodes:
		f.at, f.over = len(f.s), true
	case f.s[f.at] == '{':
		n.Kind, n.Style = Mapping, '{'
		f.inside(n, '}', depth)
	case f.s[f.at] == '[':
		n.Kind, n.Style = Sequence, '['
		f.inside(n, ']', depth)
	default:
		f.word(n)
		return
	}
	n.To = f.at
}

// inside reads to the closer.
func (f *flow) inside(n *Node, closer byte, depth int) {
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
			it := &Node{Parent: n}
			n.Children = append(n.Children, it)
			f.value(it, depth+1)
		}
	}
}

// entry reads a key and its value.
func (f *flow) entry(n *Node, depth int) {
	k := &Node{Parent: n}
	n.Children = append(n.Children, k)
	before := f.at
	f.word(k)
	if f.at == before {
		f.at++ // a brace as a key: it is passed
	}
	k.Key, k.KeyFrom, k.KeyTo = k.Text, k.From, k.To
	k.Text, k.Style = "", 0
	f.space()
	k.From, k.To = f.at, f.at
	if f.over || f.at >= len(f.s) || f.s[f.at] != ':' {
		k.From, k.To = k.KeyTo, k.KeyTo
		return
	}
	f.at++
	k.From, k.To = f.at, f.at
	f.space()
	if f.at < len(f.s) && !f.over && strings.IndexByte(",}]", f.s[f.at]) < 0 {
		f.value(k, depth+1)
	}
}

// word reads a scalar.
func (f *flow) word(n *Node) {
	n.From = f.at
	if c := f.s[f.at]; c == '"' || c == '\'' {
		if end := f.closing(f.at, c, f.parent); end >= 0 {
			n.Style, n.Text, n.To = c, f.s[f.at+1:end], end+1
			f.at = n.To
			return
		}
		f.unclosed(n, c)
		return
	}
	end := f.at
	for end < len(f.s) && strings.IndexByte(",{}[]\r\n", f.s[end]) < 0 && (f.s[end] != ':' || !f.endsWord(end+1) && f.s[end+1] != ',') {
		end++
	}
	n.Text = strings.TrimRight(f.s[f.at:end], " \t")
	n.To = f.at + len(n.Text)
	if f.at = end; end == n.From && f.at < len(f.s) {
		f.at++ // a character that begins nothing
	}
}

// unclosed is a text whose second quote is still to be typed: what is on its
// line, but for the brackets at its end, which editors write on their own.
func (f *flow) unclosed(n *Node, quote byte) {
	line := strings.TrimRight(f.s[f.at+1:f.lineEnd(f.at)], " \t\r}]")
	n.Style, n.Text, n.To = quote, line, f.at+1+len(line)
	f.at = n.To
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
