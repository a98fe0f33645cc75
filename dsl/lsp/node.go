package lsp

import "strings"

// node is a value of a document as it is being typed. The root and items of
// lists have no key.
type node struct {
	kind           nodeKind
	parent         *node
	key            string
	keyFrom, keyTo int
	from, to       int    // bytes of the value; an empty one is where it would stand
	column         int    // of the keys or dashes of a block collection
	style          byte   // ' " | > of a scalar, { [ of a flow collection; 0 = plain, or a block
	text           string // of a scalar, without quotes; of a block scalar its lines as they stand
	kids           []*node
}

type nodeKind int

const (
	scalar nodeKind = iota
	mapping
	sequence
)

// get is the value of a key, or nil.
func (n *node) get(keys ...string) *node {
	for _, key := range keys {
		if n == nil || n.kind != mapping {
			return nil
		}
		var found *node
		for _, k := range n.kids {
			if k.key == key {
				found = k
				break
			}
		}
		n = found
	}
	return n
}

// string is the text of a scalar, or "".
func (n *node) string() string {
	if n == nil || n.kind != scalar {
		return ""
	}
	return n.text
}

// entries are the kids of a mapping or list; of nothing none.
func (n *node) entries() []*node {
	if n == nil {
		return nil
	}
	return n.kids
}

// empty says that nothing is written.
func (n *node) empty() bool {
	return n.kind == scalar && n.style == 0 && (n.text == "" || n.text == "null" || n.text == "~")
}

// path is the dotted path, as Origin has it.
func (n *node) path() string {
	if n == nil || n.parent == nil {
		return ""
	}
	above := n.parent.path()
	if n.parent.kind == sequence {
		for i, k := range n.parent.kids {
			if k == n {
				return above + "[" + itoa(i) + "]"
			}
		}
	}
	if above == "" {
		return n.key
	}
	return above + "." + n.key
}

// steps are the keys from the root, "*" for items.
func (n *node) steps() []string {
	if n == nil || n.parent == nil {
		return nil
	}
	if n.parent.kind == sequence {
		return append(n.parent.steps(), "*")
	}
	return append(n.parent.steps(), n.key)
}

// under says whether the steps to a node match a pattern such as
// "graph.nodes.*.id", where ? is any key.
func (n *node) under(pattern string) bool {
	want, have := strings.Split(pattern, "."), n.steps()
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

// walk visits a node and all below it.
func (n *node) walk(visit func(*node)) {
	if n == nil {
		return
	}
	visit(n)
	for _, k := range n.kids {
		k.walk(visit)
	}
}

// find is the deepest node whose key or value has a byte in it, or ends there.
func (n *node) find(at int) *node {
	for _, k := range n.kids {
		if k.begin() <= at && at <= k.to {
			if below := k.find(at); below != nil {
				return below
			}
		}
	}
	if n.begin() <= at && at <= n.to {
		return n
	}
	return nil
}

// begin is where a node begins, its key included.
func (n *node) begin() int {
	if n.keyTo > n.keyFrom {
		return n.keyFrom
	}
	return n.from
}

// onKey says whether a byte is in the key of a node.
func (n *node) onKey(at int) bool { return n.keyTo > n.keyFrom && n.keyFrom <= at && at <= n.keyTo }
