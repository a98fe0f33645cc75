package outline

import "strings"

// Limits of an outline; the rest is left out.
const (
	MaxDepth = 64
	maxNodes = 50_000
)

// Parse parses a text by indentation. It never fails: it skips lines that are not
// YAML.
func Parse(s string) *Node {
	o := &outliner{s: s}
	root := &Node{Kind: Mapping, To: len(s)}
	if strings.HasPrefix(s, ByteOrderMark) {
		o.at = len(ByteOrderMark)
	}
	if o.next(); o.at < len(s) {
		o.value(root, -1, o.column(o.at), 0)
	}
	root.From, root.To = 0, len(s)
	if root.Kind == Scalar {
		root.Kind = Mapping
	}
	return root
}

type outliner struct {
	s     string
	at    int
	nodes int
}

// ByteOrderMark is the mark that some editors write at the start of a text.
const ByteOrderMark = "\ufeff"

// column returns the distance of a byte from the start of its line, or from the
// byte order mark.
func (o *outliner) column(at int) int {
	start := strings.LastIndexByte(o.s[:at], '\n') + 1
	if start == 0 && strings.HasPrefix(o.s, ByteOrderMark) {
		start = len(ByteOrderMark)
	}
	return at - start
}

// lineEnd returns the end of the line that contains a byte, without its line
// break.
func (o *outliner) lineEnd(at int) int {
	end := len(o.s)
	if i := strings.IndexByte(o.s[at:], '\n'); i >= 0 {
		end = at + i
	}
	if end > at && o.s[end-1] == '\r' {
		end--
	}
	return end
}

// next moves to the next character that is not a blank or in a comment.
func (o *outliner) next() {
	for o.at < len(o.s) {
		switch c := o.s[o.at]; {
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
			o.at++
		case c == '#':
			o.at = o.lineEnd(o.at)
		case o.column(o.at) == 0 && (strings.HasPrefix(o.s[o.at:], "---") || strings.HasPrefix(o.s[o.at:], "...") || c == '%'):
			o.at = o.lineEnd(o.at)
		default:
			return
		}
	}
}

// blanks skips blanks within a line.
func (o *outliner) blanks() {
	for o.at < len(o.s) && (o.s[o.at] == ' ' || o.s[o.at] == '\t') {
		o.at++
	}
}

// value parses the value at the next character into n. parent is the column of
// its container: what is at or left of it is not part of the value. column is
// that of the value.
func (o *outliner) value(n *Node, parent, column, depth int) {
	o.property()
	n.From, n.To = o.at, o.at
	o.nodes++
	if o.at >= len(o.s) || depth > MaxDepth || o.nodes > maxNodes {
		o.at = o.skip(parent)
		return
	}
	switch c := o.s[o.at]; {
	case c == '-' && o.endsWord(o.at+1):
		o.list(n, column, depth)
	case c == '{' || c == '[':
		f := &flow{outliner: o, parent: parent}
		f.value(n, depth)
	case o.key(o.at) >= 0 || o.keyBelow(column):
		o.mapping(n, column, depth)
	default:
		o.scalar(n, parent)
	}
}

// property skips an anchor or a tag before a value.
func (o *outliner) property() {
	for o.at < len(o.s) && (o.s[o.at] == '&' || o.s[o.at] == '!') {
		end := o.at
		for end < len(o.s) && !strings.ContainsRune(" \t\r\n", rune(o.s[end])) {
			end++
		}
		if o.at = end; end < len(o.s) && o.s[end] != '\n' && o.s[end] != '\r' {
			o.blanks()
		}
	}
}

// endsWord reports whether a blank, a line end or the end of the text is at a
// byte.
func (o *outliner) endsWord(at int) bool {
	return at >= len(o.s) || strings.IndexByte(" \t\r\n", o.s[at]) >= 0
}

// key returns the offset of the colon after the key at a byte, or -1 if there is
// no key.
func (o *outliner) key(at int) int {
	end := o.lineEnd(at)
	if c := o.s[at]; c == '"' || c == '\'' {
		i := strings.IndexByte(o.s[at+1:end], c)
		if i < 0 {
			return -1
		}
		at += i + 2
		for at < end && o.s[at] == ' ' {
			at++
		}
		if at < end && o.s[at] == ':' && o.endsWord(at+1) {
			return at
		}
		return -1
	}
	for i := at; i < end; i++ {
		switch {
		case o.s[i] == ':' && o.endsWord(i+1):
			return i
		case o.s[i] == '#' && i > at && o.s[i-1] == ' ':
			return -1
		}
	}
	return -1
}

// keyBelow reports whether a line without a colon is an incomplete key of a
// mapping: the next line at its column has a key.
func (o *outliner) keyBelow(column int) bool {
	if strings.IndexByte("\"'|>", o.s[o.at]) >= 0 {
		return false
	}
	below := &outliner{s: o.s, at: o.lineEnd(o.at)}
	below.next()
	return below.at < len(o.s) && below.column(below.at) == column && o.key(below.at) >= 0 && o.s[below.at] != '-'
}

// mapping parses the keys at one column.
func (o *outliner) mapping(n *Node, column, depth int) {
	n.Kind, n.Column = Mapping, column
	for o.at < len(o.s) && o.column(o.at) == column && o.nodes < maxNodes {
		colon := o.key(o.at)
		if colon < 0 || o.s[o.at] == '-' && o.endsWord(o.at+1) {
			o.at = o.skipLine(column)
			continue
		}
		raw := strings.TrimRight(o.s[o.at:colon], " \t")
		k := &Node{Parent: n, Key: strings.Trim(raw, `"'`), KeyFrom: o.at, KeyTo: o.at + len(raw)}
		n.Children = append(n.Children, k)
		o.at = colon + 1
		o.valueAfterColon(k, column, depth)
		n.To = max(n.To, k.To)
		o.next()
		for o.at < len(o.s) && o.column(o.at) > column { // lines that belong to nothing
			o.at = o.lineEnd(o.at)
			o.next()
		}
	}
}

// skipLine skips a line and the deeper lines below it.
func (o *outliner) skipLine(column int) int {
	o.at = o.lineEnd(o.at)
	return o.skip(column)
}

// skip moves to the next line that starts at a column or left of it.
func (o *outliner) skip(column int) int {
	for o.at < len(o.s) {
		if o.next(); o.at < len(o.s) && o.column(o.at) <= column {
			break
		}
		o.at = o.lineEnd(min(o.at, len(o.s)))
	}
	return o.at
}

// valueAfterColon parses the value after a colon: on the same line, or deeper below it. A
// list may be at the column of its key.
func (o *outliner) valueAfterColon(k *Node, column, depth int) {
	o.blanks()
	o.property()
	if at := o.at; at < len(o.s) && o.s[at] != '\n' && o.s[at] != '\r' && o.s[at] != '#' {
		if o.s[at] == '{' || o.s[at] == '[' {
			o.value(k, column, o.column(at), depth+1)
			return
		}
		k.From, k.To = at, at
		o.scalar(k, column)
		return
	}
	k.From = min(o.lineEnd(o.at), len(o.s))
	if k.To = k.From; o.at < len(o.s) && o.s[o.at] == '#' {
		k.From, k.To = o.at, o.at
	}
	o.next()
	if o.at >= len(o.s) {
		return
	}
	dash := o.s[o.at] == '-' && o.endsWord(o.at+1)
	if at := o.column(o.at); at > column || at == column && dash {
		below := column
		if dash {
			below = column - 1
		}
		o.value(k, below, at, depth+1)
	}
}

// list parses the items whose dashes are at one column.
func (o *outliner) list(n *Node, column, depth int) {
	n.Kind, n.Column = Sequence, column
	for o.at < len(o.s) && o.column(o.at) == column && o.s[o.at] == '-' && o.endsWord(o.at+1) && o.nodes < maxNodes {
		it := &Node{Parent: n}
		n.Children = append(n.Children, it)
		dash := o.at
		o.at++
		line := o.lineEnd(dash)
		o.blanks()
		it.From, it.To = min(o.at, line), min(o.at, line)
		if o.next(); o.at < len(o.s) && (o.at < line || o.column(o.at) > column) {
			o.value(it, column, o.column(o.at), depth+1)
		}
		n.To = max(n.To, it.To)
		o.next()
		for o.at < len(o.s) && o.column(o.at) > column {
			o.at = o.lineEnd(o.at)
			o.next()
		}
	}
}
