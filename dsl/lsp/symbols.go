package lsp

import (
	"context"
	"strings"
)

// Kinds of symbols, as the protocol numbers them.
const (
	symbolModule = 2
	symbolString = 15
	symbolArray  = 18
	symbolObject = 19
)

// Bounds of an outline: what editors show.
const (
	symbolDepth = 4
	maxSymbols  = 2000
)

func (s *server) symbols(_ context.Context, p *atPosition) (any, error) {
	s.mu.Lock()
	b := s.buffers[p.TextDocument.URI]
	s.mu.Unlock()
	if b == nil || !b.spec() {
		return []symbol{}, nil
	}
	left := maxSymbols
	return below(b.text, b.outline(), 0, &left), nil
}

func below(text *textOf, n *node, depth int, left *int) []symbol {
	out := []symbol{}
	for i, k := range n.kids {
		if depth >= symbolDepth || *left <= 0 {
			break
		}
		*left--
		name := titled(k, i)
		selected := text.span(k.keyFrom, k.keyTo)
		if k.keyTo == k.keyFrom {
			selected = text.span(k.from, k.from)
		}
		sym := symbol{Name: name, Kind: symbolKind(k, depth), Range: text.span(k.begin(), max(k.begin(), k.keyTo, k.to)), SelectionRange: selected}
		if k.kind == scalar {
			sym.Detail = short(k.text)
		}
		sym.Children = below(text, k, depth+1, left)
		out = append(out, sym)
	}
	return out
}

// titled is what a key or an item is called.
func titled(n *node, i int) string {
	if n.key != "" {
		return n.key
	}
	for _, key := range []string{"name", "id", "type"} {
		if t := n.get(key).string(); t != "" {
			return t
		}
	}
	if n.get("from") != nil {
		return n.get("from").string() + " -> " + n.get("to").string()
	}
	if n.kind == scalar && n.text != "" {
		return short(n.text)
	}
	return "[" + itoa(i) + "]"
}

func symbolKind(n *node, depth int) int {
	switch {
	case depth == 0:
		return symbolModule
	case n.kind == mapping:
		return symbolObject
	case n.kind == sequence:
		return symbolArray
	}
	return symbolString
}

// short is a text on one line.
func short(s string) string {
	const most = 40
	s = strings.Join(strings.Fields(s[:min(len(s), 4*most)]), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return strings.ToValidUTF8(s, "")
}
