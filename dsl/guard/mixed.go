package guard

import (
	"reflect"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm/runtime"
)

// mixes says that a function gives a number of either type, while the library
// believes it to be of the type of its first argument: max(1, 2.5) is 2.5. What
// is done with the number must not rest on that.
func mixes(n *ast.BuiltinNode) bool {
	switch n.Name {
	case "min", "max":
		for _, a := range n.Arguments {
			if a.Type().Kind() != reflect.Int {
				return true
			}
		}
	case "mean", "median":
		return true
	}
	return false
}

// asItIs is a value whose type only a run tells.
func asItIs(a ...any) (any, error) { return a[0], nil }

// untyped says that only a run tells what a node gives.
func untyped(n ast.Node) bool { return n.Type().Kind() == reflect.Interface }

// among is `in` for values whose types only a run tells. A value of another kind
// than those of a list is not in it, and only text is a key of an object; the
// library fails on both.
func among(a ...any) (any, error) {
	value, of := a[0], reflect.ValueOf(a[1])
	if _, isText := value.(string); !isText && (of.Kind() == reflect.Map || of.Kind() == reflect.Struct) {
		return false, nil
	}
	return runtime.In(value, a[1]), nil
}

// isCall says that a node calls one of the meter's functions.
func isCall(n ast.Node, function string) (*ast.CallNode, bool) {
	c, ok := n.(*ast.CallNode)
	if !ok {
		return nil, false
	}
	f, ok := c.Callee.(*ast.IdentifierNode)
	return c, ok && f.Value == function
}
