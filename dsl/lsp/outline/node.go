package outline

import (
	"strconv"
	"strings"
)

// Node is a value of a document that is being edited. The root and list items
// have no key.
type Node struct {
	Kind           Kind
	Parent         *Node
	Key            string
	KeyFrom, KeyTo int
	From, To       int    // byte range of the value; of an empty one, where it would be
	Column         int    // of the keys or dashes of a block collection
	Style          byte   // ' " | > of a scalar, { [ of a flow collection; 0 for plain, or a block
	Text           string // of a scalar, without quotes; of a block scalar, its lines unchanged
	Children       []*Node
}

// Kind is the form of a Node.
type Kind int

// Kinds.
const (
	Scalar Kind = iota
	Mapping
	Sequence
)

// Get returns the value at a path of keys, or nil.
func (n *Node) Get(keys ...string) *Node {
	for _, key := range keys {
		if n == nil || n.Kind != Mapping {
			return nil
		}
		var found *Node
		for _, k := range n.Children {
			if k.Key == key {
				found = k
				break
			}
		}
		n = found
	}
	return n
}

// String returns the text of a scalar, or "".
func (n *Node) String() string {
	if n == nil || n.Kind != Scalar {
		return ""
	}
	return n.Text
}

// Entries returns the children of a mapping or list.
func (n *Node) Entries() []*Node {
	if n == nil {
		return nil
	}
	return n.Children
}

// IsEmpty reports whether nothing is written.
func (n *Node) IsEmpty() bool {
	return n.Kind == Scalar && n.Style == 0 && (n.Text == "" || n.Text == "null" || n.Text == "~")
}

// Path returns the dotted path, in the form of config.Origin.
func (n *Node) Path() string {
	if n == nil || n.Parent == nil {
		return ""
	}
	above := n.Parent.Path()
	if n.Parent.Kind == Sequence {
		for i, k := range n.Parent.Children {
			if k == n {
				return above + "[" + strconv.Itoa(i) + "]"
			}
		}
	}
	if above == "" {
		return n.Key
	}
	return above + "." + n.Key
}

// Keys returns the keys from the root, "*" for items.
func (n *Node) Keys() []string {
	if n == nil || n.Parent == nil {
		return nil
	}
	if n.Parent.Kind == Sequence {
		return append(n.Parent.Keys(), "*")
	}
	return append(n.Parent.Keys(), n.Key)
}

// Match reports whether the path of a node matches a pattern such as
// "graph.nodes.*.id", where ? is any key.
func (n *Node) Match(pattern string) bool {
	want, have := strings.Split(pattern, "."), n.Keys()
	if len(want) != len(have) {
		return false
	}
	for i := range want {
		if want[i] != have[i] && (want[i] != "?" || have[i] == "*") {
			return false
		}
	}
	return true
}

// Walk visits a node and all its descendants.
func (n *Node) Walk(visit func(*Node)) {
	if n == nil {
		return
	}
	visit(n)
	for _, k := range n.Children {
		k.Walk(visit)
	}
}

// Find returns the deepest node whose key or value contains a byte, or ends
// there.
func (n *Node) Find(at int) *Node {
	for _, k := range n.Children {
		if k.Start() <= at && at <= k.To {
			if below := k.Find(at); below != nil {
				return below
			}
		}
	}
	if n.Start() <= at && at <= n.To {
		return n
	}
	return nil
}

// Start returns the start of a node, including its key.
func (n *Node) Start() int {
	if n.KeyTo > n.KeyFrom {
		return n.KeyFrom
	}
	return n.From
}

// OnKey reports whether a byte is in the key of a node.
func (n *Node) OnKey(at int) bool { return n.KeyTo > n.KeyFrom && n.KeyFrom <= at && at <= n.KeyTo }

// Is reports whether a node has a JSON type, as far as its form shows.
func (n *Node) Is(typ string) bool {
	switch typ {
	case "object":
		return n.Kind == Mapping
	case "array":
		return n.Kind == Sequence
	case "null":
		return n.IsEmpty()
	case "boolean":
		return n.Kind == Scalar && (n.Text == "true" || n.Text == "false")
	}
	return n.Kind == Scalar && !n.IsEmpty()
}
