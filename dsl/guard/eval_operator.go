package guard

import (
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/pexctl/pex/dsl/guard/exact"
)

func (e *evaluation) unary(n *ast.UnaryNode) any {
	switch n.Operator {
	case "!", "not":
		return !e.truth(n.Node, n)
	case "-":
		return e.arithmetic(n, "-", 0, e.quantity(n.Node))
	}
	return e.quantity(n.Node)
}

func (e *evaluation) binary(n *ast.BinaryNode) any {
	switch n.Operator {
	case "and", "&&":
		return e.truth(n.Left, n) && e.truth(n.Right, n)
	case "or", "||":
		return e.truth(n.Left, n) || e.truth(n.Right, n)
	case "??":
		l := e.eval(n.Left)
		if !isMissing(l) {
			return l
		}
		_, strict := unwrap(l)
		return wrapStrict(e.eval(n.Right), strict) // a default of the wrong kind does not decide anything either
	}
	l, r := e.eval(n.Left), e.eval(n.Right)
	switch n.Operator {
	case "==":
		return e.same(n, l, r)
	case "!=":
		return !e.same(n, l, r)
	case "<", "<=", ">", ">=":
		return e.ordered(n, l, r)
	case "in":
		return e.in(n, l, r)
	case "contains", "startsWith", "endsWith", "matches":
		return e.textual(n, l, r)
	case "..":
		return e.interval(n)
	case "+":
		if s, ok := e.concatenate(n, l, r); ok {
			return s
		}
	}
	return e.arithmetic(n, n.Operator, e.quantityOf(n.Left, n.Left, l), e.quantityOf(n.Right, n.Right, r))
}

// same is ==. A comparison with a literal nil tests whether a value is missing.
// Any other comparison of an argument requires two values of the same kind.
func (e *evaluation) same(n *ast.BinaryNode, l, r any) bool {
	if IsNilNode(n.Left) || IsNilNode(n.Right) {
		return isMissing(l) == isMissing(r)
	}
	if len(e.loops) > 0 && !constantNode(n.Left) && !constantNode(n.Right) {
		e.spend(n.Left, weight(l, MaxWork))
	}
	return e.equal(n, l, r)
}

// constantNode reports whether a node is a literal.
func constantNode(n ast.Node) bool {
	switch n.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NilNode:
		return true
	}
	return false
}

// equal compares two values deeply.
func (e *evaluation) equal(n *ast.BinaryNode, a, b any) bool {
	l, strict := unwrap(a)
	r, also := unwrap(b)
	strict = strict || also
	left, right := kindOf(l), kindOf(r)
	switch {
	case left != right && strict:
		e.failMismatch(n, l, r)
	case left != right:
		return isMissing(l) && isMissing(r)
	case left == kindNil && strict:
		e.failMissing(n.Left, n, true, "")
	}
	switch left {
	case kindNumber:
		sign, ok := exact.Compare(e.quantityOf(n.Left, n, l), e.quantityOf(n.Right, n, r))
		return ok && sign == 0
	case kindList:
		size := lengthOfValue(l)
		if lengthOfValue(r) != size {
			return false
		}
		for i := range size {
			if !e.equal(n, wrapStrict(element(l, i), strict), wrapStrict(element(r, i), strict)) {
				return false
			}
		}
		return true
	case kindObject:
		return e.equalObjects(n, l, r, strict)
	case kindOther:
		return false
	default:
		return l == r
	}
}

func (e *evaluation) equalObjects(n *ast.BinaryNode, l, r any, strict bool) bool {
	names := fieldNames(l)
	if !slices.Equal(names, fieldNames(r)) {
		return false
	}
	for _, name := range names {
		a, _ := field(l, name)
		b, _ := field(r, name)
		if !e.equal(n, wrapStrict(a, strict), wrapStrict(b, strict)) {
			return false
		}
	}
	return true
}

// failMismatch fails because an argument is compared with a value of another kind.
func (e *evaluation) failMismatch(n *ast.BinaryNode, l, r any) {
	switch {
	case l == nil:
		e.failMissing(n.Left, n, true, "")
	case r == nil:
		e.failMissing(n.Right, n, true, "")
	}
	fail(n, HintConvert, "%s is %s but is compared with %s", Subject(n.Left), kindNames[kindOf(l)], kindNames[kindOf(r)])
}

// ordered is <, <=, > or >= of two numbers or two texts.
func (e *evaluation) ordered(n *ast.BinaryNode, a, b any) bool {
	l, strict := unwrap(a)
	r, also := unwrap(b)
	sign, ok := 0, true
	left, right := kindOf(l), kindOf(r)
	switch {
	case left == kindText && right == kindText:
		sign = strings.Compare(l.(string), r.(string))
	case left == kindNumber && right == kindNumber:
		sign, ok = exact.Compare(e.quantityOf(n.Left, n, l), e.quantityOf(n.Right, n, r))
	case left == kindNil && strict:
		e.failMissing(n.Left, n, true, "")
	case right == kindNil && also:
		e.failMissing(n.Right, n, true, "")
	default:
		fail(n, HintConvert, "%s compares two numbers or two strings, got %s and %s", n.Operator, kindNames[left], kindNames[right])
	}
	switch n.Operator {
	case "<":
		return ok && sign < 0
	case "<=":
		return ok && sign <= 0
	case ">":
		return ok && sign > 0
	}
	return ok && sign >= 0
}

// in searches for a value in a list, or for a key in an object.
func (e *evaluation) in(n *ast.BinaryNode, a, b any) bool {
	needle, strict := unwrap(a)
	of, also := unwrap(b)
	if len(e.loops) > 0 {
		if _, written := n.Right.(*ast.ArrayNode); !written {
			e.spend(n.Right, weight(b, MaxWork))
		}
	}
	switch {
	case needle == nil && strict:
		e.failMissing(n.Left, n, true, "")
	case of == nil && also:
		e.failMissing(n.Right, n, true, "")
	case of == nil:
		return false
	}
	switch kindOf(of) {
	case kindObject:
		name, ok := needle.(string)
		if !ok && (strict || also) {
			fail(n, HintConvert, "the key of an object must be a string, got %s", kindNames[kindOf(needle)])
		}
		if !ok {
			return false
		}
		_, there := field(of, name)
		return there
	case kindList:
		return e.inList(n, needle, of, strict, also)
	default:
		fail(n, HintConvert, "the right side of in must be a list or an object, got %s", kindNames[kindOf(of)])
		return false
	}
}

// inList searches for a value in a list. If one of them is an argument and the
// value is not found, its kind must be one that could have been found.
func (e *evaluation) inList(n *ast.BinaryNode, needle, list any, strict, listGiven bool) bool {
	like, unlike, size := 0, 0, lengthOfValue(list)
	for i := range size {
		elem, marked := unwrap(element(list, i))
		listGiven = listGiven || marked
		if kindOf(elem) != kindOf(needle) {
			unlike++
			continue
		}
		like++
		if e.equal(n, needle, elem) {
			return true
		}
	}
	if listGiven && unlike > 0 || strict && size > 0 && like == 0 {
		fail(n, HintConvert, "%s is %s, but the list contains values of other types", Subject(n.Left), kindNames[kindOf(needle)])
	}
	return false
}

// textual evaluates an operator on text. Missing text contains nothing, but a
// missing argument is an error.
func (e *evaluation) textual(n *ast.BinaryNode, a, b any) bool {
	l, strict := unwrap(a)
	r, also := unwrap(b)
	if l == nil && !strict && (r != nil || !also) || r == nil && !also && (l != nil || !strict) {
		return false
	}
	text, ok := l.(string)
	if !ok {
		e.failKind(n.Left, n, l, strict, kindText)
	}
	part, ok := r.(string)
	if !ok {
		e.failKind(n.Right, n, r, also, kindText)
	}
	if len(e.loops) > 0 {
		units := size(text)
		if n.Operator == "matches" {
			units *= 4
		}
		e.spend(n.Left, units)
	}
	switch n.Operator {
	case "contains":
		return strings.Contains(text, part)
	case "startsWith":
		return strings.HasPrefix(text, part)
	case "endsWith":
		return strings.HasSuffix(text, part)
	}
	return e.pattern(n, part).MatchString(text)
}

// patterns caches compiled regular expressions by node.
type patterns map[*ast.BinaryNode]*regexp.Regexp

func (e *evaluation) pattern(n *ast.BinaryNode, text string) *regexp.Regexp {
	if p := e.patterns[n]; p != nil {
		return p
	}
	p, err := regexp.Compile(text)
	if err != nil {
		fail(n, "", "%v", err)
	}
	return p
}

// concatenate is + of two texts.
func (e *evaluation) concatenate(n *ast.BinaryNode, a, b any) (out string, ok bool) {
	l, _ := unwrap(a)
	r, _ := unwrap(b)
	left, isText := l.(string)
	right, also := r.(string)
	if !isText || !also {
		if isText && r != nil || also && l != nil {
			fail(n, HintConvert, "+ adds two numbers or joins two strings, got %s and %s", kindNames[kindOf(l)], kindNames[kindOf(r)])
		}
		return "", false
	}
	e.spend(n, 1+(len(left)+len(right))/16)
	return left + right, true
}

// interval is a..b, the whole numbers from a to b.
func (e *evaluation) interval(n *ast.BinaryNode) any {
	from, to := e.whole(n.Left), e.whole(n.Right)
	if to < from {
		return []any{}
	}
	if size := to - from; size < 0 || size >= MaxWork {
		e.make(n, MaxWork+1)
	}
	e.make(n, to-from+1)
	out := make([]any, 0, to-from+1)
	for i := from; i <= to; i++ {
		out = append(out, i)
	}
	return out
}
