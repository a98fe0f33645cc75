package guard

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// A quantity is a number as an evaluation holds it: an int, a float64, or a
// *big.Rat. All three compare exactly with each other: a float64 counts as the
// shortest decimal that denotes it, so that 0.1 is one tenth. Whole numbers that
// fit are always ints.
type quantity = any

// maxDigits bounds a number in JSON, so that reading it takes little time.
const maxDigits = 1000

// quantityOf is the number that a Go value holds; ok is false where it holds none.
func quantityOf(v any) (q quantity, ok bool) {
	switch v := v.(type) {
	case int, *big.Rat:
		return v, true
	case float64:
		return v, true
	case json.Number:
		return readNumber(v.String())
	case int64:
		return narrowed(new(big.Rat).SetInt64(v)), true
	}
	return nil, false
}

// readNumber is a number as JSON or a person writes it; ok is false where it is
// none, or longer or larger than numbers may be.
func readNumber(s string) (q quantity, ok bool) {
	if i, err := strconv.Atoi(s); err == nil {
		return i, true
	}
	if !boundedNumber(s) {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil, false
	}
	return narrowed(r), true
}

// boundedNumber says that a text is a decimal number whose digits and exponent
// are within bounds.
func boundedNumber(s string) bool {
	if len(s) > maxDigits || strings.ContainsAny(s, "xXpPoObB_/nN") {
		return false
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.Atoi(s[i+1:])
		return err == nil && e >= -maxExponent && e <= maxExponent
	}
	return true
}

// narrowed is a rational as a quantity.
func narrowed(r *big.Rat) quantity {
	if r.IsInt() && r.Num().IsInt64() {
		if i := r.Num().Int64(); int64(int(i)) == i {
			return int(i)
		}
	}
	return r
}

// finite says that a quantity is neither infinite nor the NaN of a figure.
func finite(q quantity) bool {
	f, ok := q.(float64)
	return !ok || !math.IsNaN(f) && !math.IsInf(f, 0)
}

// rational is a finite quantity as a fraction, which the caller does not change;
// 0 for one that is not finite.
func rational(q quantity) *big.Rat {
	switch q := q.(type) {
	case int:
		return new(big.Rat).SetInt64(int64(q))
	case float64:
		if r, ok := new(big.Rat).SetString(strconv.FormatFloat(q, 'g', -1, 64)); ok {
			return r
		}
	case *big.Rat:
		return q
	}
	return new(big.Rat)
}

// nearest is the float64 next to a quantity.
func nearest(q quantity) float64 {
	switch q := q.(type) {
	case int:
		return float64(q)
	case float64:
		return q
	case *big.Rat:
		f, _ := q.Float64()
		return f
	}
	return math.NaN()
}

// compareQuantities is negative, 0 or positive; ok is false for a NaN.
func compareQuantities(a, b quantity) (sign int, ok bool) {
	if x, ok := a.(int); ok {
		if y, ok := b.(int); ok {
			return sizeOf(x < y, x > y), true
		}
	}
	if !machine(a) || !machine(b) {
		if finite(a) && finite(b) {
			return rational(a).Cmp(rational(b)), true
		}
	}
	x, y := nearest(a), nearest(b)
	return sizeOf(x < y, x > y), x == x && y == y //nolint:gocritic // NaN
}

func sizeOf(less, more bool) int {
	switch {
	case less:
		return -1
	case more:
		return 1
	}
	return 0
}

// machine says that comparing a quantity as a float64 loses nothing.
func machine(q quantity) bool {
	switch q := q.(type) {
	case int:
		return q > -exact && q < exact
	case float64:
		return true
	}
	return false
}

// whole is a quantity as an int; ok is false where it has a fraction or is too
// large.
func whole(q quantity) (i int, ok bool) {
	if !finite(q) {
		return 0, false
	}
	i, ok = narrowed(rational(q)).(int)
	return i, ok
}

// written is a number as text.
func writtenNumber(q quantity) string {
	switch q := q.(type) {
	case int:
		return strconv.Itoa(q)
	case *big.Rat:
		if q.IsInt() {
			return q.Num().String()
		}
		f, _ := q.Float64()
		if digits, finite := q.FloatPrec(); finite && rational(f).Cmp(q) != 0 {
			return q.FloatString(digits)
		}
		return strconv.FormatFloat(f, 'g', -1, 64)
	case float64:
		return strconv.FormatFloat(q, 'g', -1, 64)
	}
	return ""
}
