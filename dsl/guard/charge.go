package guard

import (
	"fmt"
	"reflect"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"

	"github.com/pexctl/pex/engine"
)

// maxWork is what one evaluation may spend on loops within loops and on adding
// strings: one unit is an element, or 16 bytes of text.
const maxWork = 200_000

// Names that no source can hold, because the declared environment lacks them.
const (
	budgetName  = "$budget"
	chargeName  = "$charge"
	weighName   = "$weigh"
	patternName = "$pattern"
	integerName = "$integer"
	amongName   = "$among"
	asItIsName  = "$asItIs"
)

// meter rewrites an expression so that what multiplies is charged: strings
// added to strings, and inside a loop everything that runs over a value.
// It also lets % take 3.0 for 3, as JSON does, and keeps the library from
// taking values for what they are not (see mixes and among).
type meter struct{ used bool }

// Visit rewrites one node; for ast.Walk, children first.
func (m *meter) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.BuiltinNode:
		if mixes(n) {
			call(node, asItIsName, n)
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "in":
			if untyped(n.Left) || untyped(n.Right) {
				call(node, amongName, n.Left, n.Right)
			}
		case "+":
			if k := n.Type().Kind(); k == reflect.String || k == reflect.Interface {
				m.charge(node, chargeName)
			}
		case "%":
			integer(&n.Left)
			integer(&n.Right)
		}
	case *ast.PredicateNode:
		ast.Walk(&n.Node, (*loop)(m))
	}
}

// loop rewrites the body of a loop.
type loop meter

// Visit rewrites one node; for ast.Walk.
func (l *loop) Visit(node *ast.Node) {
	m := (*meter)(l)
	if c, ok := isCall(*node, amongName); ok {
		m.charge(&c.Arguments[1], weighName)
		return
	}
	switch n := (*node).(type) {
	case *ast.BuiltinNode:
		how := chargeName
		switch n.Name {
		case "len", "first", "last":
			return
		case "string":
			how = weighName
		}
		for i := range n.Arguments {
			if _, ok := n.Arguments[i].(*ast.PredicateNode); !ok {
				m.charge(&n.Arguments[i], how)
			}
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "in":
			m.charge(&n.Right, weighName)
		case "==", "!=":
			if !scalar(n.Left) && !scalar(n.Right) {
				m.charge(&n.Left, weighName)
			}
		case "contains", "startsWith", "endsWith":
			m.charge(&n.Left, chargeName)
		case "matches":
			m.charge(&n.Left, patternName)
		}
	}
}

// scalar says that comparing with a value costs next to nothing.
func scalar(n ast.Node) bool {
	switch n.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NilNode:
		return true
	}
	k := n.Type().Kind()
	return k == reflect.Bool || k == reflect.Int || k == reflect.Float64
}

// charge puts a call around a node, once.
func (m *meter) charge(node *ast.Node, function string) {
	switch n := (*node).(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NilNode, *ast.ConstantNode, *ast.ArrayNode:
		return
	case *ast.CallNode:
		if f, ok := n.Callee.(*ast.IdentifierNode); ok && (f.Value == function || f.Value == weighName) {
			return
		}
	}
	m.used = true
	call(node, function, &ast.IdentifierNode{Value: budgetName}, *node)
}

func integer(node *ast.Node) {
	if k := (*node).Type().Kind(); k == reflect.Interface || k == reflect.Float64 {
		call(node, integerName, *node)
	}
}

func call(node *ast.Node, function string, arguments ...ast.Node) {
	c := &ast.CallNode{Callee: &ast.IdentifierNode{Value: function}, Arguments: arguments}
	c.SetLocation((*node).Location())
	*node = c
}

// functions adds the meter's own functions.
func functions(c *conf.Config) {
	for name, f := range map[string]func(...any) (any, error){
		chargeName:  func(a ...any) (any, error) { return a[1], spend(a[0], size(a[1])) },
		patternName: func(a ...any) (any, error) { return a[1], spend(a[0], 4*size(a[1])) },
		weighName:   func(a ...any) (any, error) { return a[1], spend(a[0], weight(a[1], *a[0].(*int))) },
		integerName: wholeNumber,
		asItIsName:  asItIs,
	} {
		expr.Function(name, f)(c)
	}
	expr.Function(amongName, among, new(func(any, any) bool))(c)
}

func spend(budget any, units int) error {
	left := budget.(*int)
	if *left -= units; *left < 0 {
		return fmt.Errorf("the expression does too much work: more than %d steps in loops within loops", maxWork)
	}
	return nil
}

// size is the units of a value without what it holds.
func size(v any) int {
	switch v := v.(type) {
	case nil, bool, int, float64:
		return 1
	case string:
		return 1 + len(v)/16
	case []any:
		return 1 + len(v)
	case map[string]any:
		return 1 + len(v)
	}
	if r := reflect.ValueOf(v); r.Kind() == reflect.Slice || r.Kind() == reflect.Map {
		return 1 + r.Len()
	}
	return 1
}

// weight is the units of a value with all it holds, counted to limit at most.
func weight(v any, limit int) int {
	units := size(v)
	add := func(e any) bool {
		if units <= limit {
			units += weight(e, limit-units)
		}
		return units <= limit
	}
	switch v := v.(type) {
	case []any:
		for i := 0; i < len(v) && add(v[i]); i++ {
		}
	case map[string]any:
		for _, e := range v {
			if !add(e) {
				break
			}
		}
	case engine.StepEnv:
		_ = add(v.Result) && add(v.Output)
	case []engine.StepEnv:
		for i := 0; i < len(v) && add(v[i]); i++ {
		}
	}
	return units
}

func wholeNumber(a ...any) (any, error) {
	f, ok := a[0].(float64)
	if !ok {
		return a[0], nil
	}
	if i := int(f); float64(i) == f {
		return i, nil
	}
	return nil, fmt.Errorf("%% takes whole numbers, not %v", f)
}
