package starlark

import (
	"fmt"
	"math"
	"strconv"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// maxDigits limits the second argument of round. A float64 has no more digits.
const maxDigits = 300

// sum implements Python's sum(iterable, start), which Starlark lacks.
func sum(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs arguments) (starlark.Value, error) {
	var all starlark.Iterable
	var total starlark.Value = starlark.MakeInt(0)
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "iterable", &all, "start?", &total); err != nil {
		return nil, err
	}
	each := all.Iterate()
	defer each.Done()
	for x := starlark.Value(nil); each.Next(&x); {
		next, err := starlark.Binary(syntax.PLUS, total, x)
		if err != nil {
			return nil, err
		}
		total = next
	}
	return total, nil
}

// round implements Python's round(number, digits), which rounds halves to even.
func round(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs arguments) (starlark.Value, error) {
	var number, digits starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "number", &number, "digits?", &digits); err != nil {
		return nil, err
	}
	if _, isInt := number.(starlark.Int); isInt && (digits == nil || digits == starlark.None) {
		return number, nil
	}
	x, ok := starlark.AsFloat(number)
	if !ok {
		return nil, fmt.Errorf("%s: got %s, want a number", b.Name(), number.Type())
	}
	if digits == nil || digits == starlark.None {
		return starlark.NumberToInt(starlark.Float(math.RoundToEven(x)))
	}
	n, err := starlark.AsInt32(digits)
	if err != nil || n < -maxDigits || n > maxDigits {
		return nil, fmt.Errorf("%s: digits must be a whole number", b.Name())
	}
	return roundDigits(x, n), nil
}

// roundDigits rounds x to n decimal digits, based on its decimal representation as Python does: 2.675, which is
// slightly less, becomes 2.67.
func roundDigits(x float64, n int) starlark.Value {
	if n >= 0 {
		out, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', n, 64), 64) // the text was formatted as a float
		return starlark.Float(out)
	}
	unit := math.Pow10(-n)
	return starlark.Float(math.RoundToEven(x/unit) * unit)
}
