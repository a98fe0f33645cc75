package exact

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// A Number is a number of an evaluation: an int, a float64, or a *big.Rat. They
// compare exactly with each other. A float64 means its shortest decimal
// representation, so 0.1 is one tenth. Whole numbers that fit are always ints.
type Number = any

// Limits of numbers, so that operations take little time.
const (
	MaxBits     = 4096 // of a numerator or denominator: about 1,200 digits
	MaxExponent = 400  // of a written number
)

// MaxInt is the largest number up to which float64 represents every whole number.
const MaxInt = 1 << 53

// maxDigits limits a JSON number, so that parsing takes little time.
const maxDigits = 1000

// Of returns the number in a Go value. ok is false if it is not one.
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

// Parse parses a number as written in JSON or by humans. ok is false if it is not
// one, or too long or too large.
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

// boundedNumber reports whether a text is a decimal number whose digits and
// exponent are within the limits.
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

// FromRat returns a rational as a Number.
func FromRat(r *big.Rat) Number {
	if r.IsInt() && r.Num().IsInt64() {
		if i := r.Num().Int64(); int64(int(i)) == i {
			return int(i)
		}
	}
	return r
}

// IsFinite reports whether a Number is neither infinite nor NaN.
func IsFinite(q Number) bool {
	f, ok := q.(float64)
	return !ok || !math.IsNaN(f) && !math.IsInf(f, 0)
}

// Rat returns a finite Number as a fraction, which the caller must not modify, or
// 0 if it is not finite.
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

// Float returns the float64 nearest to a Number.
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

// Compare returns a negative number, 0 or a positive number. ok is false for NaN.
func Compare(a, b Number) (sign int, ok bool) {
	if x, ok := a.(int); ok {
		if y, ok := b.(int); ok {
			return Sign(x < y, x > y), true
		}
	}
	if !exactAsFloat(a) || !exactAsFloat(b) {
		if IsFinite(a) && IsFinite(b) {
			return Rat(a).Cmp(Rat(b)), true
		}
	}
	x, y := Float(a), Float(b)
	return Sign(x < y, x > y), x == x && y == y //nolint:gocritic // NaN
}

// Sign returns the sign of a comparison.
func Sign(less, more bool) int {
	switch {
	case less:
		return -1
	case more:
		return 1
	}
	return 0
}

// exactAsFloat reports whether a Number compares exactly as a float64.
func exactAsFloat(q Number) bool {
	switch q := q.(type) {
	case int:
		return q > -MaxInt && q < MaxInt
	case float64:
		return true
	}
	return false
}

// Int returns a Number as an int. ok is false if it has a fraction or is too
// large.
func Int(q Number) (i int, ok bool) {
	if !IsFinite(q) {
		return 0, false
	}
	i, ok = FromRat(Rat(q)).(int)
	return i, ok
}

// Format formats a number.
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

// Truncate returns the integer part of a fraction.
func Truncate(r *big.Rat) *big.Int { return new(big.Int).Quo(r.Num(), r.Denom()) }
