package guard

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/pexctl/pex/dsl/guard/exact"
)

// evaluation is one evaluation of an expression.
type evaluation struct {
	values     map[string]any
	strict     bool // arguments of calls are strict
	locals     []local
	loops      []loopAt // innermost last
	chainEnded bool     // ?. found nothing: the rest of the chain evaluates to nil
	work       int      // of maxWork
	elements   int      // number of list elements created
	boxes      map[boxKey][]any
	// patterns are the constant patterns of `matches`.
	patterns patterns
}

// local is a name declared by `let`.
type local struct {
	name  string
	value any
}

// loopAt is the position of a loop in its list.
type loopAt struct {
	elem  any
	index int
}

// failure is the reason why an evaluation cannot continue. It is a panic value,
// recovered in Value.Eval.
type failure struct {
	at            int // in characters
	message, hint string
}

// fail aborts the evaluation at a node.
func fail(n ast.Node, hint, format string, args ...any) {
	panic(failure{n.Location().From, fmt.Sprintf(format, args...), hint})
}

// Hints that several failures share.
const (
	HintConvert = "convert with int(x), float(x) or string(x); compare a value that may be missing with nil"
	hintMissing = `add a default with ??, or test "name" in object first`
	hintText    = "test its type first, or write the condition for the string itself"
)

// eval returns the value of a node.
func (e *evaluation) eval(n ast.Node) any {
	switch n := n.(type) {
	case *ast.NilNode:
		return nil
	case *ast.BoolNode:
		return n.Value
	case *ast.StringNode:
		return n.Value
	case *ast.IntegerNode:
		return n.Value
	case *ast.FloatNode:
		return n.Value
	case *ast.IdentifierNode:
		return e.name(n.Value)
	case *ast.UnaryNode:
		return e.unary(n)
	case *ast.BinaryNode:
		return e.binary(n)
	case *ast.ConditionalNode:
		if e.truth(n.Cond, n.Cond) {
			return e.eval(n.Exp1)
		}
		return e.eval(n.Exp2)
	case *ast.ChainNode:
		return e.chain(n)
	case *ast.MemberNode:
		return e.member(n)
	case *ast.BuiltinNode:
		return e.builtin(n)
	case *ast.PointerNode:
		return e.pointer(n)
	default:
		return e.compound(n)
	}
}

// compound evaluates a node that contains other expressions.
func (e *evaluation) compound(n ast.Node) (out any) {
	switch n := n.(type) {
	case *ast.VariableDeclaratorNode:
		e.locals = append(e.locals, local{n.Name, e.eval(n.Value)})
		out = e.eval(n.Expr)
		e.locals = e.locals[:len(e.locals)-1]
		return out
	case *ast.SequenceNode:
		for _, part := range n.Nodes {
			out = e.eval(part)
		}
		return out
	case *ast.ArrayNode:
		list := make([]any, len(n.Nodes))
		for i, part := range n.Nodes {
			list[i] = e.eval(part)
		}
		e.make(n, len(list))
		return list
	case *ast.MapNode:
		object := make(map[string]any, len(n.Pairs))
		for _, p := range n.Pairs {
			pair := p.(*ast.PairNode)
			object[e.text(pair.Key)] = e.eval(pair.Value)
		}
		e.make(n, len(object))
		return object
	case *ast.SliceNode:
		return e.slice(n)
	}
	fail(n, "", "this cannot be evaluated")
	return nil
}

func (e *evaluation) name(name string) any {
	for _, local := range slices.Backward(e.locals) {
		if local.name == name {
			return local.value
		}
	}
	return e.values[name]
}

func (e *evaluation) pointer(n *ast.PointerNode) any {
	l := e.loops[len(e.loops)-1]
	if n.Name == "index" {
		return l.index
	}
	return l.elem
}

// chain evaluates a chain of members, which ?. may end early.
func (e *evaluation) chain(n *ast.ChainNode) any {
	around := e.chainEnded
	e.chainEnded = false
	out := e.eval(n.Node)
	e.chainEnded = around
	return out
}

// member returns a field of an object or an element of a list.
func (e *evaluation) member(n *ast.MemberNode) any {
	base := e.eval(n.Node)
	if e.chainEnded {
		return base
	}
	from, strict := unwrap(base)
	if n.Optional && from == nil {
		e.chainEnded = true
		return base
	}
	if name, ok := n.Property.(*ast.StringNode); ok && kindOf(from) == kindObject {
		return e.field(from, name.Value, strict)
	}
	key, _ := unwrap(e.eval(n.Property))
	switch kindOf(from) {
	case kindObject:
		name, ok := key.(string)
		if !ok {
			fail(n, `write object["name"]`, "the key of an object must be a string, got %s", kindNames[kindOf(key)])
		}
		return e.field(from, name, strict)
	case kindList:
		return wrapStrict(element(from, e.index(n, key, lengthOfValue(from))), strict)
	case kindNil:
		e.failMissing(n.Node, n, strict, fmt.Sprintf("cannot fetch %v from nil", key))
	case kindText:
		fail(n, hintText, "a string has no fields")
	default:
		fail(n, hintText, "cannot fetch %v from %s", key, kindNames[kindOf(from)])
	}
	return nil
}

// field returns a field of an object. The arguments of a call are strict.
func (e *evaluation) field(object any, name string, strict bool) any {
	v, _ := field(object, name)
	return wrapStrict(v, strict || e.strict && name == "args" && reflect.TypeOf(object).Kind() == reflect.Struct)
}

// index returns an index of a list; negative ones count from its end.
func (e *evaluation) index(n ast.Node, key any, size int) int {
	q, ok := exact.Of(key)
	if !ok {
		fail(n, "", "the index of a list must be a number, got %s", kindNames[kindOf(key)])
	}
	i, ok := exact.Int(q)
	if at := i; ok && at < 0 {
		i = size + at
	}
	if !ok || i < 0 || i >= size {
		fail(n, "test len(list) first", "index out of range: %s (array length is %d)", exact.Format(q), size)
	}
	return i
}

// failMissing fails because a value does not exist.
func (e *evaluation) failMissing(of, at ast.Node, strict bool, otherwise string) {
	if name := Path(of); strict && name != "" {
		fail(at, hintMissing, "%s is missing or null", name)
	} else if strict {
		fail(at, hintMissing, "an argument is missing or null")
	}
	fail(at, "use ?. instead of . if the value may be missing", "%s", otherwise)
}

func (e *evaluation) slice(n *ast.SliceNode) any {
	base := e.eval(n.Node)
	if e.chainEnded {
		return base
	}
	of, strict := unwrap(base)
	var chars []rune
	size := 0
	switch kindOf(of) {
	case kindText:
		chars = []rune(of.(string))
		size = len(chars)
	case kindList:
		size = lengthOfValue(of)
	default:
		fail(n, HintConvert, "only lists and strings can be sliced, got %s", kindNames[kindOf(of)])
	}
	from, to := e.end(n.From, 0, size), e.end(n.To, size, size)
	from = min(from, to)
	if chars != nil || kindOf(of) == kindText {
		return wrapStrict(string(chars[from:to]), strict)
	}
	out := make([]any, 0, to-from)
	for i := from; i < to; i++ {
		out = append(out, wrapStrict(element(of, i), strict))
	}
	e.make(n, len(out))
	return wrapStrict(out, strict)
}

// end returns one bound of a slice, from 0 to size.
func (e *evaluation) end(n ast.Node, otherwise, size int) int {
	if n == nil {
		return otherwise
	}
	i := e.whole(n)
	if i < 0 {
		i += size
	}
	return min(max(i, 0), size)
}

// truth returns the value of a node that must be a boolean.
func (e *evaluation) truth(n, at ast.Node) bool {
	v, strict := unwrap(e.eval(n))
	b, ok := v.(bool)
	if !ok {
		e.failKind(n, at, v, strict, kindBool)
	}
	return b
}

// text returns the value of a node that must be text.
func (e *evaluation) text(n ast.Node) string {
	v, strict := unwrap(e.eval(n))
	s, ok := v.(string)
	if !ok {
		e.failKind(n, n, v, strict, kindText)
	}
	return s
}

// quantity returns the value of a node that must be a number.
func (e *evaluation) quantity(n ast.Node) exact.Number { return e.quantityOf(n, n, e.eval(n)) }

func (e *evaluation) quantityOf(n, at ast.Node, v any) exact.Number {
	v, strict := unwrap(v)
	q, ok := exact.Of(v)
	if !ok {
		e.failKind(n, at, v, strict, kindNumber)
	}
	return q
}

// whole returns the value of a node that must be a whole number.
func (e *evaluation) whole(n ast.Node) int {
	q := e.quantity(n)
	i, ok := exact.Int(q)
	if !ok {
		fail(n, "round(x), floor(x) and ceil(x) return integers", "%s is not an integer", exact.Format(q))
	}
	return i
}

// failKind fails because the value of a node does not have the required kind.
func (e *evaluation) failKind(n, at ast.Node, v any, strict bool, need kind) {
	k := kindOf(v)
	switch {
	case k == kindNil && strict:
		e.failMissing(n, at, true, "")
	case k == kindNumber && need == kindNumber:
		fail(at, "", "the number %v is too large or has too many digits", v)
	}
	fail(at, HintConvert, "%s must be %s, got %s", Subject(n), kindNames[need], kindNames[k])
}

// Subject returns the name of a node in messages.
func Subject(n ast.Node) string {
	if name := NameOf(n); name != "" {
		return name
	}
	return "the value"
}
