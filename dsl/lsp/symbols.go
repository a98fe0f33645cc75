package lsp

import (
	"context"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/lsp/outline"
)

// Kinds of symbols, as the protocol numbers them.
const (
	symbolModule = 2
	symbolString = 15
	symbolArray  = 18
	symbolObject = 19
)

// Limits of an outline.
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

func below(text *textIndex, n *outline.Node, depth int, left *int) []symbol {
	out := []symbol{}
	for i, k := range n.Children {
		if depth >= symbolDepth || *left <= 0 {
			break
		}
		*left--
		name := titleOf(k, i)
		selected := text.span(k.KeyFrom, k.KeyTo)
		if k.KeyTo == k.KeyFrom {
			selected = text.span(k.From, k.From)
		}
		sym := symbol{Name: name, Kind: symbolKind(k, depth), Range: text.span(k.Start(), max(k.Start(), k.KeyTo, k.To)), SelectionRange: selected}
		if k.Kind == outline.Scalar {
			sym.Detail = short(k.Text)
		}
		sym.Children = below(text, k, depth+1, left)
		out = append(out, sym)
	}
	return out
}

// titleOf returns the title of a key or an item.
func titleOf(n *outline.Node, i int) string {
	if n.Key != "" {
		return n.Key
	}
	for _, key := range []string{"name", "id", "type"} {
		if t := n.Get(key).String(); t != "" {
			return t
		}
	}
	if n.Get("from") != nil {
		return n.Get("from").String() + " -> " + n.Get("to").String()
	}
	if n.Kind == outline.Scalar && n.Text != "" {
		return short(n.Text)
	}
	return "[" + strconv.Itoa(i) + "]"
}

func symbolKind(n *outline.Node, depth int) int {
	switch {
	case depth == 0:
		return symbolModule
	case n.Kind == outline.Mapping:
		return symbolObject
	case n.Kind == outline.Sequence:
		return symbolArray
	}
	return symbolString
}

// short returns a text on one line.
func short(s string) string {
	const most = 40
	s = strings.Join(strings.Fields(s[:min(len(s), 4*most)]), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return strings.ToValidUTF8(s, "")
}
