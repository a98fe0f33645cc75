package guard

import (
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// Names lists what an expression asks of a name of its environment: the fields
// that are after it, sorted. all says that it takes the whole value, or a
// field that only a run knows. A source that does not parse asks nothing.
func Names(source, of string) (fields []string, all bool) {
	tree, err := parser.Parse(source)
	if err != nil {
		return nil, false
	}
	a := &asked{of: of, fielded: map[ast.Node]bool{}}
	ast.Walk(&tree.Node, a)
	for _, n := range a.whole {
		all = all || !a.fielded[n]
	}
	slices.Sort(a.fields)
	return slices.Compact(a.fields), all
}

// asked collects the fields of one name.
type asked struct {
	of      string
	fields  []string
	whole   []ast.Node        // where the name is
	fielded map[ast.Node]bool // those of them that a known field follows
}

// Visit looks at one node; for ast.Walk, children first.
func (a *asked) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if n.Value == a.of {
			a.whole = append(a.whole, n)
		}
	case *ast.MemberNode:
		name, ok := n.Node.(*ast.IdentifierNode)
		field, fixed := n.Property.(*ast.StringNode)
		if ok && fixed && name.Value == a.of {
			a.fields, a.fielded[name] = append(a.fields, field.Value), true
		}
	}
}
