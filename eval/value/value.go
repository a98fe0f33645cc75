package value

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/jsonvalue"
)

// Equal says whether two JSON values are the same. Numbers are compared by what
// they are worth: 1, 1.0 and 1e0 are the same.
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

// whole is a number that an int64 holds and that is written as one.
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

// plain is a value in the types that decoding JSON gives; what is none of them
// goes through JSON once.
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
	_ = jsonvalue.Unmarshal(raw, &out) // Marshal wrote it
	return out
}

// The bounds of a number that is read exactly.
const (
	maxDigits   = 1000
	maxExponent = 400
)

// Number is a value that is a number, exactly; ok is false for any other, and
// for numbers beyond 1000 characters or an exponent of 400.
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
		// By its shortest text: 0.1 is what its author wrote, not what is stored.
		return ParseNumber(strconv.FormatFloat(v, 'g', -1, 64))
	case json.Number:
		return ParseNumber(v.String())
	}
	return nil, false
}

// ParseNumber reads a number as JSON and programs write it: a sign, digits, a
// decimal point, an exponent.
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

// Text is how a value reads: a text as it is, anything else as compact JSON with
// sorted keys.
func Text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return JSON(v)
}

// JSON is a value as compact JSON with sorted keys.
func JSON(v any) string {
	b, err := jsonvalue.Marshal(v)
	if err != nil {
		return fmt.Sprint(v) // no JSON value, such as NaN: show it rather than nothing
	}
	return string(b)
}
