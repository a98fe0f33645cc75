package interval

import (
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/pexctl/pex/dsl/guard"
)

// evalGiven evaluates a part that is reached only where a condition has given
// what it says: what the condition finds to be there is not missing.
func (o *evaluator) evalGiven(condition ast.Node, holds bool, part ast.Node) Range {
	paths := present(condition, holds)
	if o.misuses == nil || len(paths) == 0 {
		return o.eval(part)
	}
	inner := *o
	inner.present = append(slices.Clip(inner.present), paths...)
	return inner.eval(part)
}

// present lists the paths that are not nil where a condition gives true, or
// false.
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

// notNil is what a comparison that is not nil is of.
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
