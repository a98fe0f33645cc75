package guard

import "github.com/expr-lang/expr/ast"

// Path returns a chain of names as written, or "" for other nodes.
func Path(n ast.Node) string {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return n.Value
	case *ast.ChainNode:
		return Path(n.Node)
	case *ast.MemberNode:
		base := Path(n.Node)
		if name, ok := n.Property.(*ast.StringNode); ok && base != "" {
			return base + "." + name.Value
		}
	}
	return ""
}

// NameOf returns a chain of names as written; in a loop it starts with a dot.
func NameOf(n ast.Node) string {
	switch n := n.(type) {
	case *ast.ChainNode:
		return NameOf(n.Node)
	case *ast.MemberNode:
		if _, ok := n.Node.(*ast.PointerNode); ok {
			if name, ok := n.Property.(*ast.StringNode); ok {
				return "." + name.Value
			}
		}
	}
	return Path(n)
}

// IsNilNode reports whether a node is the literal nil.
func IsNilNode(n ast.Node) bool { _, ok := n.(*ast.NilNode); return ok }

// Parse returns the tree of a source that compiles in an environment, or nil.
func Parse(src string, env Env) ast.Node {
	_, root, p := check(src, env, false)
	if p != nil {
		return nil
	}
	return root
}

// Offset returns the start of a node in its source, in bytes.
func Offset(src string, n ast.Node) int { return problemAt(src, n.Location().From, "", "").Offset }
