package syntax

// NewMap returns a mapping of alternating keys and values.
func NewMap(pairs ...any) *Node {
	v := &Node{Kind: Map}
	for i := 0; i < len(pairs); i += 2 {
		v.Set(pairs[i].(string), Position{}, pairs[i+1].(*Node))
	}
	return v
}

// NewList returns a list.
func NewList(items ...*Node) *Node {
	return &Node{Kind: List, Items: items}
}

// NewText returns a text.
func NewText(s string) *Node { return &Node{Kind: Text, Text: s} }

// NewTexts returns a list of texts.
func NewTexts(words ...string) *Node {
	v := NewList()
	for _, w := range words {
		v.Items = append(v.Items, NewText(w))
	}
	return v
}
