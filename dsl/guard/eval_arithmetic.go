package guard

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/pexctl/pex/dsl/guard/exact"
)

// arithmetic applies an operator to two numbers. The result is exact except for
// powers with fractional exponents.
func (e *evaluation) arithmetic(n ast.Node, operator string, a, b exact.Number) exact.Number {
	if !exact.IsFinite(a) || !exact.IsFinite(b) {
		return e.infinite(n, operator, exact.Float(a), exact.Float(b))
	}
	x, small := a.(int)
	y, also := b.(int)
	if small = small && also && max(abs(x), abs(y)) < 1<<31; small {
		switch operator {
		case "+":
			return x + y
		case "-":
			return x - y
		case "*":
			return x * y
		}
	}
	l, r, out := exact.Rat(a), exact.Rat(b), new(big.Rat)
	switch operator {
	case "+":
		out.Add(l, r)
	case "-":
		out.Sub(l, r)
	case "*":
		out.Mul(l, r)
	case "/":
		if r.Sign() == 0 {
			fail(n, "test the divisor first: n != 0 and x / n > 1", "division by zero")
		}
		out.Quo(l, r)
	case "%":
		return e.remainder(n, a, b)
	default:
		return e.power(n, a, b)
	}
	return checkedSize(n, out)
}

// infinite applies an operator to engine figures, at least one of which is not
// finite.
func (e *evaluation) infinite(n ast.Node, operator string, a, b float64) exact.Number {
	switch operator {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	}
	fail(n, "", "%s needs finite numbers", operator)
	return nil
}

func abs(i int) int {
	if i == math.MinInt {
		return math.MaxInt
	}
	return max(i, -i)
}

// checkedSize rejects numbers that are too large to work with.
func checkedSize(n ast.Node, r *big.Rat) exact.Number {
	if r.Num().BitLen() > exact.MaxBits || r.Denom().BitLen() > exact.MaxBits {
		fail(n, "", "the result has more than 1,200 digits")
	}
	return exact.FromRat(r)
}

// remainder is % of whole numbers; the result has the sign of the left operand.
func (e *evaluation) remainder(n ast.Node, a, b exact.Number) exact.Number {
	b2, _ := n.(*ast.BinaryNode)
	for i, q := range []exact.Number{a, b} {
		if !exact.Rat(q).IsInt() {
			at := n
			if b2 != nil {
				at = []ast.Node{b2.Left, b2.Right}[i]
			}
			fail(at, "", "%% takes integers, not %s", exact.Format(q))
		}
	}
	l, r := exact.Rat(a).Num(), exact.Rat(b).Num()
	if r.Sign() == 0 {
		fail(n, "test the divisor first: n != 0 and x % n == 0", "division by zero")
	}
	return exact.FromRat(new(big.Rat).SetInt(new(big.Int).Rem(l, r)))
}

// power is ** (or ^): exact for whole exponents, otherwise the nearest float64.
func (e *evaluation) power(n ast.Node, a, b exact.Number) exact.Number {
	k, ok := exact.Int(b)
	if !ok {
		f := math.Pow(exact.Float(a), exact.Float(b))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			fail(n, "", "the power is not defined")
		}
		return f
	}
	base := exact.Rat(a)
	if base.Sign() == 0 && k < 0 {
		fail(n, "", "division by zero")
	}
	bits := max(base.Num().BitLen(), base.Denom().BitLen())
	if bits > 1 && (abs(k) > exact.MaxBits || abs(k)*(bits-1) > exact.MaxBits) {
		fail(n, "", "the result has more than 1,200 digits")
	}
	if bits <= 1 { // 0, 1 and -1
		k = k%2 + 2*exact.Sign(k < 0, k > 0)
	}
	exponent := big.NewInt(int64(abs(k)))
	out := new(big.Rat).SetFrac(new(big.Int).Exp(base.Num(), exponent, nil), new(big.Int).Exp(base.Denom(), exponent, nil))
	if k < 0 {
		out.Inv(out)
	}
	return checkedSize(n, out)
}

// ofNumbers evaluates a function of numbers and of lists of them.
func (e *evaluation) ofNumbers(n *ast.BuiltinNode) any {
	var all []exact.Number
	strict := false
	for _, a := range n.Arguments {
		v := e.eval(a)
		e.charge(a, v, false)
		_, marked := unwrap(v)
		strict = strict || marked
		all = e.numbersIn(a, v, all, 0)
	}
	if len(all) == 0 {
		if n.Name == "min" || n.Name == "max" {
			return wrapStrict(nil, strict)
		}
		return 0
	}
	sign := func(a, b exact.Number) int { s, _ := exact.Compare(a, b); return s }
	switch n.Name {
	case "min":
		return slices.MinFunc(all, sign)
	case "max":
		return slices.MaxFunc(all, sign)
	case "mean":
		total := exact.Number(0)
		for _, q := range all {
			total = e.arithmetic(n, "+", total, q)
		}
		return e.arithmetic(n, "/", total, len(all))
	}
	slices.SortFunc(all, sign)
	middle := len(all) / 2
	if len(all)%2 == 1 {
		return all[middle]
	}
	return e.arithmetic(n, "/", e.arithmetic(n, "+", all[middle-1], all[middle]), 2)
}

// maxNesting is the maximum nesting of lists of numbers.
const maxNesting = 10_000

// numbersIn appends the numbers of a value: itself, or all in a list.
func (e *evaluation) numbersIn(n ast.Node, v any, all []exact.Number, depth int) []exact.Number {
	raw, strict := unwrap(v)
	if kindOf(raw) != kindList {
		return append(all, e.quantityOf(n, n, v))
	}
	if depth > maxNesting {
		fail(n, "", "the lists are nested too deeply")
	}
	for i := range lengthOfValue(raw) {
		all = e.numbersIn(n, wrapStrict(element(raw, i), strict), all, depth+1)
	}
	return all
}

// converted evaluates int or float of a number or of text that contains one.
func (e *evaluation) converted(n *ast.BuiltinNode, arg ast.Node, v any) exact.Number {
	raw, strict := unwrap(v)
	q, ok := exact.Of(raw)
	if s, isText := raw.(string); isText {
		q, ok = exact.Parse(strings.TrimPrefix(s, "+"))
		if _, isWhole := exact.Int(q); ok && n.Name == "int" && (!isWhole || strings.ContainsAny(s, ".eE")) {
			ok = false
		}
	}
	switch {
	case raw == nil && strict:
		e.failMissing(arg, n, true, "")
	case !ok:
		fail(n, `test it first: x matches "^[0-9]+$"`, "%s takes a number or a string that contains one", n.Name)
	case n.Name == "int":
		return wholeNumber("int", q, n)
	}
	return q
}

// wholeNumber applies a rounding function to a number.
func wholeNumber(name string, q exact.Number, n ast.Node) exact.Number {
	if !exact.IsFinite(q) {
		switch name {
		case "int":
			fail(n, "", "int takes a finite number")
		case "abs":
			return math.Abs(exact.Float(q))
		}
		return q
	}
	r := exact.Rat(q)
	of := func(i *big.Int) exact.Number { return exact.FromRat(new(big.Rat).SetInt(i)) }
	floor := func(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }
	switch name {
	case "abs":
		return exact.FromRat(new(big.Rat).Abs(r))
	case "floor":
		return of(floor(r))
	case "ceil":
		return of(new(big.Int).Neg(floor(new(big.Rat).Neg(r))))
	case "round": // halves away from zero
		half := big.NewRat(int64(r.Sign()), 2)
		return of(exact.Truncate(half.Add(half, r)))
	}
	return of(exact.Truncate(r))
}
