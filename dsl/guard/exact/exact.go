package exact

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// A Number is a number as an evaluation holds it: an int, a float64, or a
// *big.Rat. All three compare exactly with each other: a float64 counts as the
// shortest decimal that denotes it, so that 0.1 is one tenth. Whole numbers that
// fit are always ints.
type Number = any

// The bounds of numbers, so that working with them takes little time.
const (
	MaxBits     = 4096 // of a numerator or denominator: some 1,200 digits
	MaxExponent = 400  // of a written number
)

// MaxInt is up to where float64 holds every whole number.
const MaxInt = 1 << 53

// maxDigits bounds a number in JSON, so that reading it takes little time.
const maxDigits = 1000

// Of is the number that a Go value holds; ok is false where it holds none.
func Of(v any) (q Number, ok bool) {
	switch v := v.(type) {
	case int, *big.Rat:
		return v, true
	case float64:
		return v, true
	case json.Number:
		return Parse(v.String())
	case int64:
		return FromRat(new(big.Rat).SetInt64(v)), true
	}
	return nil, false
}

// Parse is a number as JSON or a person writes it; ok is false where it is
// none, or longer or larger than numbers may be.
func Parse(s string) (q Number, ok bool) {
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
	return FromRat(r), true
}

// boundedNumber says that a text is a decimal number whose digits and exponent
// are within bounds.
func boundedNumber(s string) bool {
	if len(s) > maxDigits || strings.ContainsAny(s, "xXpPoObB_/nN") {
		return false
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.Atoi(s[i+1:])
		return err == nil && e >= -MaxExponent && e <= MaxExponent
	}
	return true
}

// FromRat is a rational as a Number.
func FromRat(r *big.Rat) Number {
	if r.IsInt() && r.Num().IsInt64() {
		if i := r.Num().Int64(); int64(int(i)) == i {
			return int(i)
		}
	}
	return r
}

// IsFinite says that a Number is neither infinite nor the NaN of a figure.
func IsFinite(q Number) bool {
	f, ok := q.(float64)
	return !ok || !math.IsNaN(f) && !math.IsInf(f, 0)
}

// Rat is a finite Number as a fraction, which the caller does not change;
// 0 for one that is not finite.
func Rat(q Number) *big.Rat {
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

// Float is the float64 next to a Number.
func Float(q Number) float64 {
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

// Compare is negative, 0 or positive; ok is false for a NaN.
func Compare(a, b Number) (sign int, ok bool) {
	if x, ok := a.(int); ok {
		if y, ok := b.(int); ok {
			return Sign(x < y, x > y), true
		}
	}
	if !machine(a) || !machine(b) {
		if IsFinite(a) && IsFinite(b) {
			return Rat(a).Cmp(Rat(b)), true
		}
	}
	x, y := Float(a), Float(b)
	return Sign(x < y, x > y), x == x && y == y //nolint:gocritic // NaN
}

// Sign is the sign of a comparison.
func Sign(less, more bool) int {
	switch {
	case less:
		return -1
	case more:
		return 1
	}
	return 0
}

// machine says that comparing a Number as a float64 loses nothing.
func machine(q Number) bool {
	switch q := q.(type) {
	case int:
		return q > -MaxInt && q < MaxInt
	case float64:
		return true
	}
	return false
}

// Int is a Number as an int; ok is false where it has a fraction or is too
// large.
func Int(q Number) (i int, ok bool) {
	if !IsFinite(q) {
		return 0, false
	}
	i, ok = FromRat(Rat(q)).(int)
	return i, ok
}

// Format returns a number as text.
func Format(q Number) string {
	switch q := q.(type) {
	case int:
		return strconv.Itoa(q)
	case *big.Rat:
		if q.IsInt() {
			return q.Num().String()
		}
		f, _ := q.Float64()
		if digits, finite := q.FloatPrec(); finite && Rat(f).Cmp(q) != 0 {
			return q.FloatString(digits)
		}
		return strconv.FormatFloat(f, 'g', -1, 64)
	case float64:
		return strconv.FormatFloat(q, 'g', -1, 64)
	}
	return ""
}

// Truncate is a fraction without what is after its decimal point.
func Truncate(r *big.Rat) *big.Int { return new(big.Int).Quo(r.Num(), r.Denom()) }
