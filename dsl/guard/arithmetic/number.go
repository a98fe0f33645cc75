package arithmetic

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/guard/exact"
)

// num is a number. exact is set if it is the exact result, not the nearest
// float64.
type num struct {
	r     *big.Rat
	exact bool
}

func inexact(f float64) num { return num{new(big.Rat).SetFloat64(f), false} }

func (v num) float() float64 { f, _ := v.r.Float64(); return f }

// show formats the number: an exact whole number with all digits, any other with
// 15 significant digits.
func (v num) show() string {
	if v.exact && v.r.IsInt() {
		return v.r.Num().String()
	}
	f := v.float()
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		s := strconv.FormatFloat(f, 'e', 14, 64)
		digits, exponent, _ := strings.Cut(s, "e")
		return strings.TrimRight(strings.TrimRight(digits, "0"), ".") + "e" + exponent
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 15, 64), 64)
	if rounded == 0 {
		return "0"
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// bound rejects results that are too large to work with.
func (c *calculation) bound(at int, v num) {
	if v.r.Num().BitLen() > exact.MaxBits {
		c.fail(at, "the result has more than 1,200 digits: overflow")
	}
	if v.r.Denom().BitLen() > exact.MaxBits {
		f := v.float()
		v.r.SetFloat64(f) // far below the displayed precision
	}
}

// checked converts a float64 result to a number.
func (c *calculation) checked(at int, what string, f float64) num {
	if math.IsNaN(f) {
		c.fail(at, "%s is not defined for this value", what)
	}
	if math.IsInf(f, 0) {
		c.fail(at, "the result of %s is too large: overflow", what)
	}
	return inexact(f)
}

func (c *calculation) power(at int, base, exponent num) num {
	n := exponent.r.Num()
	if !exponent.r.IsInt() || !n.IsInt64() || !exponent.exact {
		return c.checked(at, "the power", math.Pow(base.float(), exponent.float()))
	}
	k := n.Int64()
	if base.r.Sign() == 0 && k < 0 {
		c.fail(at, "division by zero: 0 to a negative power")
	}
	size := max(base.r.Num().BitLen(), base.r.Denom().BitLen())
	magnitude := k
	if k < 0 {
		magnitude = -k
	}
	if size <= 1 { // 0, 1 and -1 stay small
		magnitude = magnitude & 1
		if k == 0 {
			return num{big.NewRat(1, 1), base.exact}
		}
		if magnitude == 0 {
			magnitude = 2
		}
	} else if magnitude < 0 || magnitude > exact.MaxBits || int(magnitude)*(size-1) > exact.MaxBits {
		return c.checked(at, "the power", math.Pow(base.float(), exponent.float()))
	}
	e := big.NewInt(magnitude)
	out := new(big.Rat).SetFrac(new(big.Int).Exp(base.r.Num(), e, nil), new(big.Int).Exp(base.r.Denom(), e, nil))
	if k < 0 {
		out.Inv(out)
	}
	return num{out, base.exact}
}

// arithmeticFunction is one function of Evaluate.
type arithmeticFunction struct {
	least, most int
	call        func(c *calculation, at int, args []num) num
}

func (f arithmeticFunction) takes() string {
	switch {
	case f.most > 100:
		return fmt.Sprintf("at least %d value", f.least)
	case f.least != f.most:
		return fmt.Sprintf("%d or %d values", f.least, f.most)
	case f.most == 1:
		return "1 value"
	}
	return fmt.Sprintf("%d values", f.most)
}

var constants = map[string]float64{"pi": math.Pi, "e": math.E}

var functionNames = strings.Join(slices.Sorted(maps.Keys(arithmeticFunctions)), " ")

var arithmeticFunctions = map[string]arithmeticFunction{
	"sqrt": {1, 1, root}, "abs": {1, 1, func(_ *calculation, _ int, a []num) num { return num{new(big.Rat).Abs(a[0].r), a[0].exact} }},
	"round": {1, 2, rounded}, "floor": {1, 1, floor}, "ceil": {1, 1, ceil},
	"min": {1, maxSource, extreme(-1)}, "max": {1, maxSource, extreme(1)},
	"pow": {2, 2, func(c *calculation, at int, a []num) num { return c.power(at, a[0], a[1]) }},
	"ln":  {1, 1, ofFloat("ln", math.Log)}, "log": {1, 2, logarithm}, "log10": {1, 1, ofFloat("log10", math.Log10)},
	"exp": {1, 1, ofFloat("exp", math.Exp)}, "sin": {1, 1, ofFloat("sin", math.Sin)},
	"cos": {1, 1, ofFloat("cos", math.Cos)}, "tan": {1, 1, ofFloat("tan", math.Tan)},
}

func ofFloat(name string, f func(float64) float64) func(*calculation, int, []num) num {
	return func(c *calculation, at int, a []num) num {
		x := a[0].float()
		if math.IsInf(f(x), -1) {
			c.fail(at, "%s is not defined for this value", name)
		}
		return c.checked(at, name, f(x))
	}
}

func logarithm(c *calculation, at int, a []num) num {
	v := ofFloat("log", math.Log)(c, at, a)
	if len(a) == 1 {
		return v
	}
	base := ofFloat("log", math.Log)(c, at, a[1:])
	if base.r.Sign() == 0 {
		c.fail(at, "log is not defined for base 1")
	}
	return c.checked(at, "log", v.float()/base.float())
}

// root returns the square root, exact for squares of whole numbers and fractions.
func root(c *calculation, at int, a []num) num {
	if r := a[0].r; a[0].exact && r.Sign() >= 0 {
		n, d := new(big.Int).Sqrt(r.Num()), new(big.Int).Sqrt(r.Denom())
		exact := new(big.Rat).SetFrac(n, d)
		if new(big.Rat).Mul(exact, exact).Cmp(r) == 0 {
			return num{exact, true}
		}
	}
	return c.checked(at, "sqrt", math.Sqrt(a[0].float()))
}

func rounded(c *calculation, at int, a []num) num {
	scale := big.NewRat(1, 1)
	if len(a) == 2 {
		n := a[1].r.Num()
		if !a[1].r.IsInt() || !n.IsInt64() || n.Int64() < -exact.MaxExponent || n.Int64() > exact.MaxExponent {
			c.fail(at, "round takes an integer number of digits")
		}
		scale = c.power(at, num{big.NewRat(10, 1), true}, a[1]).r
	}
	x := new(big.Rat).Mul(a[0].r, scale)
	half := big.NewRat(int64(x.Sign()), 2)
	whole := new(big.Rat).SetInt(exact.Truncate(x.Add(x, half)))
	return num{whole.Quo(whole, scale), true}
}

func floor(_ *calculation, _ int, a []num) num {
	// Div rounds towards minus infinity, because denominators are positive.
	return num{new(big.Rat).SetInt(new(big.Int).Div(a[0].r.Num(), a[0].r.Denom())), true}
}

func ceil(c *calculation, at int, a []num) num {
	v := floor(c, at, []num{{new(big.Rat).Neg(a[0].r), true}})
	return num{v.r.Neg(v.r), true}
}

// extreme returns the minimum for sign -1, the maximum for 1.
func extreme(sign int) func(*calculation, int, []num) num {
	return func(_ *calculation, _ int, a []num) num {
		out := a[0]
		for _, v := range a[1:] {
			if v.r.Cmp(out.r) == sign {
				out = v
			}
		}
		return out
	}
}
