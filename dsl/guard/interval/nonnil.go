package interval

import (
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/pexctl/pex/dsl/guard"
)

// evalGiven evaluates a part that is reached only if a condition has the result
// holds. What the condition then proves to be present is not missing in the part.
func (o *evaluator) evalGiven(condition ast.Node, holds bool, part ast.Node) Range {
	paths := present(condition, holds)
	if o.misuses == nil || len(paths) == 0 {
		return o.eval(part)
	}
	inner := *o
	inner.present = append(slices.Clip(inner.present), paths...)
	return inner.eval(part)
}

// present returns the paths that are not nil if a condition has the result holds.
func present(n ast.Node, holds bool) []string {
	switch n := n.(type) {
	case *ast.UnaryNode:
		if n.Operator == "!" || n.Operator == "not" {
			return present(n.Node, !holds)
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "and", "&&":
			if holds {
				return append(present(n.Left, true), present(n.Right, true)...)
			}
		case "or", "||":
			if !holds {
				return append(present(n.Left, false), present(n.Right, false)...)
			}
		case "==", "!=":
			if (n.Operator == "!=") == holds {
				return notNil(n)
			}
		case "in":
			name, ok := n.Left.(*ast.StringNode)
			if of := guard.Path(n.Right); ok && holds && of != "" {
				return []string{of + "." + name.Value}
			}
		}
	}
	return nil
}

// notNil returns the paths compared with something other than nil.
func notNil(n *ast.BinaryNode) []string {
	of := n.Left
	if guard.IsNilNode(n.Left) {
		of = n.Right
	} else if !guard.IsNilNode(n.Right) {
		return nil
	}
	if p := guard.Path(of); p != "" {
		return []string{p}
	}
	return nil
}
