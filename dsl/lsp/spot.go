package lsp

import (
	"strings"

	"github.com/pexctl/pex/engine/text"
)

// spot is what can be typed at a place.
type spot struct {
	buffer *buffer
	at     int
	node   *node // whose value, or one of whose keys, is typed; nil = a comment, or nothing
	key    bool  // a key of node may stand here
	value  bool  // the value of node may stand here
	from   int   // of the word that is typed
	to     int
	item   bool // the key stands behind a dash or between braces: it gets no line of its own
}

var (
	lineKey  = text.Regexp(`^[ ]*(?:- +)*("[^"]*"|'[^']*'|[^\s#'"{\[][^#'"{\[]*?):[ \t]+$`)
	lineWord = text.Regexp(`^([ ]*(?:- +)*)([\pL\pN_$./*-]*)$`)
	wordEnd  = text.Regexp(`^[\pL\pN_$./*-]*`)
	wordHead = text.Regexp(`[\pL\pN_$./*-]*$`)
)

// spotAt finds what can be typed at a byte of a document.
func spotAt(b *buffer, at int) spot {
	s := spot{buffer: b, at: at, from: at, to: at}
	start, line := b.text.line(at)
	before := line[:min(at-start, len(line))]
	root := b.outline()
	n := root.find(at)
	if strings.HasPrefix(strings.TrimSpace(before), "#") && (n == nil || n.kind != scalar) {
		return s
	}
	switch {
	case n != nil && n.onKey(at):
		s.from, s.to, s.node, s.key, s.item = n.keyFrom, n.keyTo, n.parent, true, n.parent.style == '{'
	case n != nil && n.kind == scalar && n.from <= at && n.to > n.from && (n.style != 0 || !lineKey().MatchString(before)):
		s.inScalar(n, start)
	case n != nil && n.style == '{' || n != nil && n.style == '[':
		s.inFlow(n, start, before)
	default:
		s.inBlock(root, start, before, line[len(before):])
	}
	return s
}

// inScalar is a place within a text. A single word on a line of its own may
// become a key.
func (s *spot) inScalar(n *node, start int) {
	s.node, s.value, s.from, s.to = n, true, inner(n), n.to
	if n.style == '"' || n.style == '\'' {
		s.to = max(s.from, n.to-1)
	}
	alone := n.from >= start && strings.Trim(s.buffer.text.s[start:n.from], " -") == ""
	if n.style == 0 && alone && !strings.ContainsAny(n.text, " \n") {
		s.key, s.item = true, n.parent != nil && n.parent.kind == sequence
	}
}

// inFlow is a place between braces or brackets that no value holds.
func (s *spot) inFlow(n *node, start int, before string) {
	word := wordHead().FindString(before)
	s.from = s.at - len(word)
	rest := strings.TrimRight(before[:len(before)-len(word)], " \t")
	switch {
	case n.kind == sequence:
		s.node, s.value = &node{parent: n, from: s.at, to: s.at}, true
	case strings.HasSuffix(rest, ":"):
		for _, k := range n.kids {
			if k.keyTo <= s.at && k.keyTo > start-1 {
				s.node, s.value = k, true
			}
		}
	default:
		s.node, s.key, s.item = n, true, true
	}
}

// inBlock is a place on a line of a block collection: behind a colon, or where a
// key or a value begins.
func (s *spot) inBlock(root *node, start int, before, behind string) {
	if m := lineKey().FindStringSubmatch(before); m != nil {
		root.walk(func(n *node) {
			if n.keyFrom >= start && n.keyTo > n.keyFrom && n.keyTo <= s.at {
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
		root.walk(func(n *node) {
			if n.parent != nil && n.parent.kind == sequence && n.begin() >= start && n.begin() <= s.at || n.parent != nil && n.parent.kind == sequence && n.from == s.from {
				s.node, s.value = n, true
			}
		})
		return
	}
	s.node = containerAt(root, start, len(m[1]))
	s.value = s.node.kind == scalar
}

// containerAt is what a key at a column of a line would belong to.
func containerAt(root *node, start, column int) *node {
	n := root
	for {
		var last *node
		for _, k := range n.kids {
			if k.begin() < start {
				last = k
			}
		}
		if column <= n.column || last == nil {
			return n
		}
		if n.kind == sequence && last.kind == scalar && !last.empty() {
			return n
		}
		n = last
		if n.kind == scalar || n.style != 0 {
			return n
		}
		if n.kind == mapping && column < n.column {
			return n
		}
	}
}

// written is what was typed of the word before the place.
func (s *spot) written() string {
	if s.from > s.at {
		return ""
	}
	return s.buffer.text.s[s.from:s.at]
}
