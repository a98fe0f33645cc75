package lsp

import (
	"strings"

	"github.com/pexctl/pex/dsl/lsp/outline"
	"github.com/pexctl/pex/engine/text"
)

// cursor describes what can be typed at a place.
type cursor struct {
	buffer *buffer
	at     int
	node   *outline.Node // the node whose value or key is typed; nil in a comment, or if nothing can be typed
	key    bool          // a key of node is possible
	value  bool          // the value of node is possible
	from   int           // start of the typed word
	to     int
	item   bool // the key follows a dash or is in braces, so it gets no line of its own
}

var (
	lineKey  = text.Regexp(`^[ ]*(?:- +)*("[^"]*"|'[^']*'|[^\s#'"{\[][^#'"{\[]*?):[ \t]+$`)
	lineWord = text.Regexp(`^([ ]*(?:- +)*)([\pL\pN_$./*-]*)$`)
	wordEnd  = text.Regexp(`^[\pL\pN_$./*-]*`)
	wordHead = text.Regexp(`[\pL\pN_$./*-]*$`)
)

// cursorAt returns what can be typed at a byte of a document.
func cursorAt(b *buffer, at int) cursor {
	s := cursor{buffer: b, at: at, from: at, to: at}
	start, line := b.text.line(at)
	before := line[:min(at-start, len(line))]
	root := b.outline()
	n := root.Find(at)
	if strings.HasPrefix(strings.TrimSpace(before), "#") && (n == nil || n.Kind != outline.Scalar) {
		return s
	}
	switch {
	case n != nil && n.OnKey(at):
		s.from, s.to, s.node, s.key, s.item = n.KeyFrom, n.KeyTo, n.Parent, true, n.Parent.Style == '{'
	case n != nil && n.Kind == outline.Scalar && n.From <= at && n.To > n.From && (n.Style != 0 || !lineKey().MatchString(before)):
		s.inScalar(n, start)
	case n != nil && n.Style == '{' || n != nil && n.Style == '[':
		s.inFlow(n, start, before)
	default:
		s.inBlock(root, start, before, line[len(before):])
	}
	return s
}

// inScalar sets the cursor within a text. A single word on its own line may
// become a key.
func (s *cursor) inScalar(n *outline.Node, start int) {
	s.node, s.value, s.from, s.to = n, true, textStart(n), n.To
	if n.Style == '"' || n.Style == '\'' {
		s.to = max(s.from, n.To-1)
	}
	alone := n.From >= start && strings.Trim(s.buffer.text.s[start:n.From], " -") == ""
	if n.Style == 0 && alone && !strings.ContainsAny(n.Text, " \n") {
		s.key, s.item = true, n.Parent != nil && n.Parent.Kind == outline.Sequence
	}
}

// inFlow sets the cursor in braces or brackets, outside any value.
func (s *cursor) inFlow(n *outline.Node, start int, before string) {
	word := wordHead().FindString(before)
	s.from = s.at - len(word)
	rest := strings.TrimRight(before[:len(before)-len(word)], " \t")
	switch {
	case n.Kind == outline.Sequence:
		s.node, s.value = &outline.Node{Parent: n, From: s.at, To: s.at}, true
	case strings.HasSuffix(rest, ":"):
		for _, k := range n.Children {
			if k.KeyTo <= s.at && k.KeyTo > start-1 {
				s.node, s.value = k, true
			}
		}
	default:
		s.node, s.key, s.item = n, true, true
	}
}

// inBlock sets the cursor on a line of a block collection: after a colon, or at
// the start of a key or a value.
func (s *cursor) inBlock(root *outline.Node, start int, before, behind string) {
	if m := lineKey().FindStringSubmatch(before); m != nil {
		root.Walk(func(n *outline.Node) {
			if n.KeyFrom >= start && n.KeyTo > n.KeyFrom && n.KeyTo <= s.at {
				s.node, s.value = n, true
			}
		})
		return
	}
	m := lineWord().FindStringSubmatch(before)
	if m == nil {
		return
	}
	s.from, s.to = s.at-len(m[2]), s.at+len(wordEnd().FindString(behind))
	s.key = true
	if strings.Contains(m[1], "-") {
		s.item = true
		root.Walk(func(n *outline.Node) {
			if n.Parent != nil && n.Parent.Kind == outline.Sequence && n.Start() >= start && n.Start() <= s.at || n.Parent != nil && n.Parent.Kind == outline.Sequence && n.From == s.from {
				s.node, s.value = n, true
			}
		})
		return
	}
	s.node = containerAt(root, start, len(m[1]))
	s.value = s.node.Kind == outline.Scalar
}

// containerAt returns the collection that a key at a column of a line would
// belong to.
func containerAt(root *outline.Node, start, column int) *outline.Node {
	n := root
	for {
		var last *outline.Node
		for _, k := range n.Children {
			if k.Start() < start {
				last = k
			}
		}
		if column <= n.Column || last == nil {
			return n
		}
		if n.Kind == outline.Sequence && last.Kind == outline.Scalar && !last.IsEmpty() {
			return n
		}
		n = last
		if n.Kind == outline.Scalar || n.Style != 0 {
			return n
		}
		if n.Kind == outline.Mapping && column < n.Column {
			return n
		}
	}
}

// written returns the part of the word before the cursor.
func (s *cursor) written() string {
	if s.from > s.at {
		return ""
	}
	return s.buffer.text.s[s.from:s.at]
}
