package outline

import "strings"

// flow parses values in braces and brackets. An unclosed one ends at a line that
// starts at the parent's column with a key.
type flow struct {
	*outliner
	parent int
	ended  bool // it ended before it was closed
}

func (f *flow) value(n *Node, depth int) {
	f.nodes++
	n.From = f.at
	switch {
	case depth > MaxDepth || f.nodes > maxNodes:
		f.at, f.ended = len(f.s), true
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

// inside parses up to the closing bracket.
func (f *flow) inside(n *Node, closer byte, depth int) {
	f.at++
	for f.space(); f.at < len(f.s) && !f.ended; f.space() {
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

// entry parses a key and its value.
func (f *flow) entry(n *Node, depth int) {
	k := &Node{Parent: n}
	n.Children = append(n.Children, k)
	before := f.at
	f.word(k)
	if f.at == before {
		f.at++ // skip a brace as a key
	}
	k.Key, k.KeyFrom, k.KeyTo = k.Text, k.From, k.To
	k.Text, k.Style = "", 0
	f.space()
	k.From, k.To = f.at, f.at
	if f.ended || f.at >= len(f.s) || f.s[f.at] != ':' {
		k.From, k.To = k.KeyTo, k.KeyTo
		return
	}
	f.at++
	k.From, k.To = f.at, f.at
	f.space()
	if f.at < len(f.s) && !f.ended && strings.IndexByte(",}]", f.s[f.at]) < 0 {
		f.value(k, depth+1)
	}
}

// word parses a scalar.
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
		f.at++ // skip a character that starts nothing
	}
}

// unclosed parses a text without its closing quote: the rest of its line, except
// closing brackets at the end, which editors insert automatically.
func (f *flow) unclosed(n *Node, quote byte) {
	line := strings.TrimRight(f.s[f.at+1:f.lineEnd(f.at)], " \t\r}]")
	n.Style, n.Text, n.To = quote, line, f.at+1+len(line)
	f.at = n.To
}

// space skips blanks, comments and lines that belong to the flow.
func (f *flow) space() {
	for f.at < len(f.s) && !f.ended {
		switch c := f.s[f.at]; {
		case c == ' ' || c == '\t' || c == '\r':
			f.at++
		case c == '#' && (f.at == 0 || strings.IndexByte(" \t\n", f.s[f.at-1]) >= 0):
			f.at = f.lineEnd(f.at)
		case c == '\n':
			line := f.s[f.at+1 : f.lineEnd(f.at+1)]
			rest := strings.TrimLeft(line, " ")
			if rest != "" && len(line)-len(rest) <= f.parent && strings.IndexByte("}]#", rest[0]) < 0 {
				f.ended = true
				return
			}
			f.at++
		default:
			return
		}
	}
}
