package interval

import (
	"math"

	"github.com/expr-lang/expr/ast"

	"github.com/pexctl/pex/dsl/guard"
)

func unary(operator string, r Range) Range {
	switch operator {
	case "!", "not":
		out := boolean(r.kinds&isFalse != 0, r.kinds&isTrue != 0)
		return out.failingIf(r.fails || !r.hasOnly(isBool)).withKind()
	case "-":
		if r.hasOnly(isNumber) {
			r.lo, r.hi, r.why = -r.hi, -r.lo, ""
			return r
		}
	case "+":
		if r.hasOnly(isNumber) {
			return r
		}
	}
	return Anything().failing()
}

// withKind returns the range of a boolean instead of one that can only fail, so
// that it has a kind.
func (r Range) withKind() Range {
	if r.kinds == 0 {
		r.kinds = isBool
	}
	return r
}

func (o *evaluator) binary(n *ast.BinaryNode) Range {
	switch n.Operator {
	case "and", "&&":
		return o.logical(n, isFalse)
	case "or", "||":
		return o.logical(n, isTrue)
	case "??":
		return o.coalesce(n)
	}
	l, r := o.eval(n.Left), o.eval(n.Right)
	if o.onCompare != nil {
		o.onCompare(n, l, r)
	}
	if o.misuses != nil {
		o.operands(n, l, r)
	}
	out := o.operation(n, l, r)
	return out.failingIf(l.fails || r.fails)
}

// operation evaluates an operator on two evaluated ranges.
func (o *evaluator) operation(n *ast.BinaryNode, l, r Range) Range {
	switch n.Operator {
	case "==":
		return equal(l, r)
	case "!=":
		return unary("!", equal(l, r))
	case "<":
		return less(l, r, false)
	case "<=":
		return less(l, r, true)
	case ">":
		return less(r, l, false)
	case ">=":
		return less(r, l, true)
	case "in":
		return o.in(n.Right, l, r)
	case "contains", "startsWith", "endsWith", "matches":
		return o.texts(n, l, r)
	case "+", "-", "*", "/", "%", "**", "^":
		return arithmetic(n.Operator, l, r)
	case "..":
		return sequence(n, l, r)
	}
	return Anything().failing()
}

// logical is `and` (decided by false) or `or` (decided by true). If the left
// operand decides, the right one is not reached.
func (o *evaluator) logical(n *ast.BinaryNode, decides kinds) Range {
	l := o.eval(n.Left)
	goesOn := isBool &^ decides
	o.require(n.Left, n, l, isBool, acceptsText(n.Operator, isBool))
	if !l.fails && l.kinds == decides {
		o.visitUnreached(n.Right)
		return l
	}
	r := o.evalGiven(n.Left, decides == isFalse, n.Right)
	o.require(n.Right, n, r, isBool, acceptsText(n.Operator, isBool))
	out := Range{kinds: l.kinds&decides | r.kinds&decides}
	if l.kinds&goesOn != 0 || !l.hasOnly(isBool) {
		out.kinds |= r.kinds & goesOn
	}
	return out.failingIf(l.fails || r.fails || !l.hasOnly(isBool) || !r.hasOnly(isBool)).withKind()
}

// visitUnreached visits a part that is never reached, for the collectors.
func (o *evaluator) visitUnreached(n ast.Node) {
	if o.onCompare != nil {
		o.eval(n)
	}
}

// coalesce is ??. A list or an object may be missing.
func (o *evaluator) coalesce(n *ast.BinaryNode) Range {
	l := o.eval(n.Left)
	if l.hasOnly(isBool|isNumber|isText) && !l.fails {
		o.visitUnreached(n.Right)
		return l
	}
	r := o.eval(n.Right)
	l.kinds &^= isNil
	if l.kinds == 0 {
		return r.failingIf(l.fails)
	}
	return l.Or(r)
}

// sequence is a..b of number literals.
func sequence(n *ast.BinaryNode, l, r Range) Range {
	if !isWholeLiteral(n.Left) || !isWholeLiteral(n.Right) || !l.single() || !r.single() {
		return List(0, -1, Whole(math.Inf(-1), math.Inf(1))).failing()
	}
	size := max(0, int(r.hi)-int(l.lo)+1)
	return List(size, size, Whole(l.lo, r.hi)).failingIf(size > guard.MaxWork)
}

// isWholeLiteral reports whether a node is a whole number literal, with its sign.
func isWholeLiteral(n ast.Node) bool {
	if u, ok := n.(*ast.UnaryNode); ok && (u.Operator == "-" || u.Operator == "+") {
		n = u.Node
	}
	_, ok := n.(*ast.IntegerNode)
	return ok
}

// arithmetic evaluates an operator on numbers, or + of texts. The result has no
// bounds.
func arithmetic(operator string, l, r Range) Range {
	switch {
	case l.hasOnly(isNumber) && r.hasOnly(isNumber):
		return Number(math.Inf(-1), math.Inf(1)).failing()
	case operator == "+" && l.hasOnly(isText) && r.hasOnly(isText):
		return Text().failing() // long texts are charged to the budget
	}
	return Anything().failing()
}
