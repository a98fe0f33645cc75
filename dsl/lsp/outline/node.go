package outline

import (
	"strconv"
	"strings"
)

// Node is a value of a document as it is being typed. The root and items of
// lists have no key.
type Node struct {
	Kind           Kind
	Parent         *Node
	Key            string
	KeyFrom, KeyTo int
	From, To       int    // bytes of the value; an empty one is where it would be
	Column         int    // of the keys or dashes of a block collection
	Style          byte   // ' " | > of a scalar, { [ of a flow collection; 0 = plain, or a block
	Text           string // of a scalar, without quotes; of a block scalar its lines as they are
	Children       []*Node
}

// Kind is the form of a Node.
type Kind int

// The kinds.
const (
	Scalar Kind = iota
	Mapping
	Sequence
)

// Get is the value of a key, or nil.
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

// String is the text of a scalar, or "".
func (n *Node) String() string {
	if n == nil || n.Kind != Scalar {
		return ""
	}
	return n.Text
}

// Entries are the kids of a mapping or list; of nothing none.
func (n *Node) Entries() []*Node {
	if n == nil {
		return nil
	}
	return n.Children
}

// IsEmpty says that nothing is written.
func (n *Node) IsEmpty() bool {
	return n.Kind == Scalar && n.Style == 0 && (n.Text == "" || n.Text == "null" || n.Text == "~")
}

// Path is the dotted path, as Origin has it.
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

// Keys are the keys from the root, "*" for items.
func (n *Node) Keys() []string {
	if n == nil || n.Parent == nil {
		return nil
	}
	if n.Parent.Kind == Sequence {
		return append(n.Parent.Keys(), "*")
	}
	return append(n.Parent.Keys(), n.Key)
}

// Match says whether the steps to a node match a pattern such as
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

// Walk visits a node and all below it.
func (n *Node) Walk(visit func(*Node)) {
	if n == nil {
		return
	}
	visit(n)
	for _, k := range n.Children {
		k.Walk(visit)
	}
}

// Find is the deepest node whose key or value has a byte in it, or ends there.
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

// Start is where a node begins, its key included.
func (n *Node) Start() int {
	if n.KeyTo > n.KeyFrom {
		return n.KeyFrom
	}
	return n.From
}

// OnKey says whether a byte is in the key of a node.
func (n *Node) OnKey(at int) bool { return n.KeyTo > n.KeyFrom && n.KeyFrom <= at && at <= n.KeyTo }

// Is says whether a node is of a type of JSON, as far as its form tells.
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
