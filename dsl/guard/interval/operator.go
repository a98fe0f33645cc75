package interval

import (
	"math"
	"math/big"

	"github.com/expr-lang/expr/ast"

	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/guard/exact"
)

func unary(operator string, r Range) Range {
	switch operator {
	case "!", "not":
		out := boolean(r.kinds&isFalse != 0, r.kinds&isTrue != 0)
		return out.failingIf(r.fails || !r.only(isBool)).orBool()
	case "-":
		if r.only(isNumber) {
			r.lo, r.hi, r.why = -r.hi, -r.lo, ""
			return r
		}
	case "+":
		if r.only(isNumber) {
			return r
		}
	}
	return Anything().failing()
}

// orBool makes what can only fail true or false, so that it has a kind.
func (r Range) orBool() Range {
	if r.kinds == 0 {
		r.kinds = isBool
	}
	return r
}

func (o *evaluator) binary(n *ast.BinaryNode) Range {
	switch n.Operator {
	case "and", "&&":
		return o.junction(n, isFalse)
	case "or", "||":
		return o.junction(n, isTrue)
	case "??":
		return o.otherwise(n)
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

// operation is an operator on two ranges that are both worked out.
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
		return interval(n, l, r)
	}
	return Anything().failing()
}

// junction is `and` (decided by false) or `or` (by true): where the left side
// decides, the right one is not looked at.
func (o *evaluator) junction(n *ast.BinaryNode, decides kinds) Range {
	l := o.eval(n.Left)
	goesOn := isBool &^ decides
	o.needs(n.Left, n, l, isBool, taking(n.Operator, isBool))
	if !l.fails && l.kinds == decides {
		o.visitUnreached(n.Right)
		return l
	}
	r := o.evalGiven(n.Left, decides == isFalse, n.Right)
	o.needs(n.Right, n, r, isBool, taking(n.Operator, isBool))
	out := Range{kinds: l.kinds&decides | r.kinds&decides}
	if l.kinds&goesOn != 0 || !l.only(isBool) {
		out.kinds |= r.kinds & goesOn
	}
	return out.failingIf(l.fails || r.fails || !l.only(isBool) || !r.only(isBool)).orBool()
}

// visitUnreached looks at a part that is never reached, for those who listen.
func (o *evaluator) visitUnreached(n ast.Node) {
	if o.onCompare != nil {
		o.eval(n)
	}
}

// otherwise is ??. A list or an object may be one that is not there.
func (o *evaluator) otherwise(n *ast.BinaryNode) Range {
	l := o.eval(n.Left)
	if l.only(isBool|isNumber|isText) && !l.fails {
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

// interval is a..b between numbers that are written out.
func interval(n *ast.BinaryNode, l, r Range) Range {
	if !written(n.Left) || !written(n.Right) || !l.single() || !r.single() {
		return List(0, -1, Whole(math.Inf(-1), math.Inf(1))).failing()
	}
	size := max(0, int(r.hi)-int(l.lo)+1)
	return List(size, size, Whole(l.lo, r.hi)).failingIf(size > guard.MaxWork)
}

// written says that a node is a whole number as it stands, with its sign.
func written(n ast.Node) bool {
	if u, ok := n.(*ast.UnaryNode); ok && (u.Operator == "-" || u.Operator == "+") {
		n = u.Node
	}
	_, ok := n.(*ast.IntegerNode)
	return ok
}

// arithmetic is an operator on numbers, or + on texts.
func arithmetic(operator string, l, r Range) Range {
	if !l.only(isNumber) || !r.only(isNumber) {
		if operator == "+" && l.only(isText) && r.only(isText) {
			return Text().failing() // long texts draw on the budget
		}
		return Anything().failing()
	}
	out := Range{kinds: isNumber, whole: l.whole && r.whole, nan: l.nan || r.nan}
	switch operator {
	case "+":
		out.lo, _ = around(operator, l.lo, r.lo)
		_, out.hi = around(operator, l.hi, r.hi)
	case "-":
		out.lo, _ = around(operator, l.lo, r.hi)
		_, out.hi = around(operator, l.hi, r.lo)
	case "*":
		out.lo, out.hi = corners(operator, l, r)
		out.fails = math.IsInf(out.lo, 0) || math.IsInf(out.hi, 0) // products that go on growing are refused
	case "/":
		if out.whole = false; r.lo <= 0 && r.hi >= 0 || r.nan || math.IsInf(r.lo, 0) || math.IsInf(r.hi, 0) || l.nan || math.IsInf(l.lo, 0) || math.IsInf(l.hi, 0) {
			return Number(math.Inf(-1), math.Inf(1)).failing()
		}
		out.lo, out.hi = corners(operator, l, r)
	case "%":
		return remainder(l, r)
	default: // powers
		return Number(math.Inf(-1), math.Inf(1)).failing()
	}
	return out.tidy()
}

// tidy gives up bounds that are none: beyond what floats tell apart, or not
// numbers, as where infinities meet.
func (r Range) tidy() Range {
	if math.IsNaN(r.lo) || math.IsNaN(r.hi) || r.lo <= -exact.MaxInt || r.hi >= exact.MaxInt {
		r.lo, r.hi = math.Inf(-1), math.Inf(1)
		r.nan = r.nan || !r.whole
	}
	return r
}

// around is an operator on two bounds. The evaluation is exact and bounds are
// not, so where the result had to be rounded it lies between lo and hi.
func around(operator string, a, b float64) (lo, hi float64) {
	l, r, out := exact.Rat(a), exact.Rat(b), new(big.Rat)
	var f float64
	bounded := exact.IsFinite(a) && exact.IsFinite(b)
	switch operator {
	case "+":
		f = a + b
		out.Add(l, r)
	case "-":
		f = a - b
		out.Sub(l, r)
	case "*":
		f = a * b
		out.Mul(l, r)
	default:
		f = a / b
		if bounded = bounded && b != 0; bounded {
			out.Quo(l, r)
		}
	}
	if !bounded || !exact.IsFinite(f) || out.Cmp(exact.Rat(f)) == 0 {
		return f, f
	}
	return math.Nextafter(f, math.Inf(-1)), math.Nextafter(f, math.Inf(1))
}

// corners are the least and the most that an operator gives on two intervals,
// which rises or falls in each.
func corners(operator string, l, r Range) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, a := range []float64{l.lo, l.hi} {
		for _, b := range []float64{r.lo, r.hi} {
			least, most := around(operator, a, b)
			if math.IsNaN(least) {
				return least, most
			}
			lo, hi = min(lo, least), max(hi, most)
		}
	}
	return lo, hi
}

// remainder has the sign of its left side. It fails on fractions and zero.
func remainder(l, r Range) Range {
	most := max(math.Abs(r.lo), math.Abs(r.hi)) - 1
	out := Whole(-most, most)
	if l.lo >= 0 {
		out.lo = 0
	}
	if l.hi <= 0 {
		out.hi = 0
	}
	zero := r.lo <= 0 && r.hi >= 0
	return out.failingIf(zero || !l.whole || !r.whole || l.nan || r.nan || math.IsInf(l.lo, 0) || math.IsInf(l.hi, 0))
}
