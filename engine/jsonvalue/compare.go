package jsonvalue

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Equal reports whether a and b are the same JSON value, whatever the order of keys.
// Numbers are equal by value: 1, 1.0 and 1e0.
func Equal(a, b any) bool {
	a, b = plain(a), plain(b)
	switch a := a.(type) {
	case nil:
		return b == nil
	case string:
		s, ok := b.(string)
		return ok && a == s
	case bool:
		t, ok := b.(bool)
		return ok && a == t
	case []any:
		return equalLists(a, b)
	case map[string]any:
		return equalObjects(a, b)
	}
	return equalNumbers(a, b)
}

func equalLists(a []any, other any) bool {
	b, ok := other.([]any)
	if !ok || len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func equalObjects(a map[string]any, other any) bool {
	b, ok := other.(map[string]any)
	if !ok || len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || !Equal(v, w) {
			return false
		}
	}
	return true
}

func equalNumbers(a, b any) bool {
	i, isWhole := whole(a)
	j, bothWhole := whole(b)
	if isWhole && bothWhole {
		return i == j
	}
	x, ok := Number(a)
	if !ok {
		n, isNumber := a.(json.Number) // beyond what is worth working out
		m, both := b.(json.Number)
		return isNumber && both && n == m
	}
	y, ok := Number(b)
	return ok && x.Cmp(y) == 0
}

// whole returns v as an int64 if it is an integer written as one.
func whole(v any) (int64, bool) {
	switch v := v.(type) {
	case int:
		return int64(v), true
	case int64:
		return v, true
	case json.Number:
		n, err := v.Int64()
		return n, err == nil
	}
	return 0, false
}

// plain converts v to the types that decoding JSON returns, through JSON if need be.
func plain(v any) any {
	switch v := v.(type) {
	case nil, string, bool, int, int64, float64, json.Number, []any, map[string]any:
		return v
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return v
	}
	var out any
	_ = Unmarshal(raw, &out) // Marshal wrote it
	return out
}

// Limits of a number that is parsed exactly.
const (
	maxDigits   = 1000
	maxExponent = 400
)

// Number returns v as an exact number. ok is false if v is no number, has more than
// 1000 characters, or an exponent beyond 400.
func Number(v any) (n *big.Rat, ok bool) {
	switch v := v.(type) {
	case int:
		return new(big.Rat).SetInt64(int64(v)), true
	case int64:
		return new(big.Rat).SetInt64(v), true
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, false
		}
		// The shortest text is what the author wrote: 0.1, not its binary value.
		return ParseNumber(strconv.FormatFloat(v, 'g', -1, 64))
	case json.Number:
		return ParseNumber(v.String())
	}
	return nil, false
}

// ParseNumber parses a decimal number: a sign, digits, a decimal point, an exponent.
func ParseNumber(text string) (n *big.Rat, ok bool) {
	if len(text) == 0 || len(text) > maxDigits || strings.Trim(text, "+-.0123456789eE") != "" {
		return nil, false
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		e, err := strconv.Atoi(text[i+1:])
		if err != nil || e > maxExponent || e < -maxExponent {
			return nil, false
		}
	}
	return new(big.Rat).SetString(text)
}

// Text returns a string unchanged and any other value as compact JSON with sorted keys.
func Text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return Compact(v)
}

// Compact returns v as compact JSON with sorted keys, or as fmt.Sprint if JSON cannot
// represent it.
func Compact(v any) string {
	b, err := Marshal(v)
	if err != nil {
		return fmt.Sprint(v) // NaN, for example
	}
	return string(b)
}
