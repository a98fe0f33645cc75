package guard

import (
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// Names returns the fields of a name of the environment that an expression reads,
// sorted. all reports whether it reads the whole value, or a field that is known
// only in a run. A source that does not parse reads nothing.
func Names(source, of string) (fields []string, all bool) {
	tree, err := parser.Parse(source)
	if err != nil {
		return nil, false
	}
	a := &fieldReads{of: of, withField: map[ast.Node]bool{}}
	ast.Walk(&tree.Node, a)
	for _, n := range a.whole {
		all = all || !a.withField[n]
	}
	slices.Sort(a.fields)
	return slices.Compact(a.fields), all
}

// fieldReads collects the fields of one name.
type fieldReads struct {
	of        string
	fields    []string
	whole     []ast.Node        // occurrences of the name
	withField map[ast.Node]bool // those followed by a known field
}

// Visit implements ast.Visitor; children come first.
func (a *fieldReads) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if n.Value == a.of {
			a.whole = append(a.whole, n)
		}
	case *ast.MemberNode:
		name, ok := n.Node.(*ast.IdentifierNode)
		field, fixed := n.Property.(*ast.StringNode)
		if ok && fixed && name.Value == a.of {
			a.fields, a.withField[name] = append(a.fields, field.Value), true
		}
	}
}
