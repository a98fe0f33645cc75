package table

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

const (
	maxDigits     = 400 // of a number, written without exponent
	averageDigits = 10  // additional digits of an average
)

// decimal is an exact decimal number, units / 10^scale. The zero value is 0.
type decimal struct {
	units *big.Int // nil = 0; never changed once it is set
	scale int      // >= 0
}

// parse parses a JSON number. It rejects numbers with too many digits.
func parse(s string) (decimal, error) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(s), "e")
	exp := 0
	if exponent != "" {
		var err error
		if exp, err = strconv.Atoi(exponent); err != nil || exp < -maxDigits || exp > maxDigits {
			return decimal{}, fmt.Errorf("number %.40s is too large or too small to add exactly", s)
		}
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if len(whole)+len(fraction) > maxDigits {
		return decimal{}, fmt.Errorf("number %.40s... has more than %d digits", s, maxDigits)
	}
	units, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return decimal{}, fmt.Errorf("%.40q is not a number", s)
	}
	scale := len(fraction) - exp
	if scale < 0 {
		units.Mul(units, pow10(-scale))
		scale = 0
	}
	return decimal{units, scale}, nil
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// at returns the units at a scale that is not smaller than the decimal's own.
func (d decimal) at(scale int) *big.Int {
	if d.units == nil {
		return new(big.Int)
	}
	if d.scale == scale {
		return d.units
	}
	return new(big.Int).Mul(d.units, pow10(scale-d.scale))
}

func (d decimal) plus(e decimal) decimal {
	scale := max(d.scale, e.scale)
	return decimal{new(big.Int).Add(d.at(scale), e.at(scale)), scale}
}

func (d decimal) compare(e decimal) int {
	scale := max(d.scale, e.scale)
	return d.at(scale).Cmp(e.at(scale))
}

// divide divides by n and rounds half away from zero, to extra digits more than d has.
func (d decimal) divide(n int) json.Number {
	scale := d.scale + averageDigits
	twice := new(big.Int).Lsh(d.at(scale), 1)
	twice.Add(twice, big.NewInt(int64(n*twice.Sign())))
	return decimal{twice.Quo(twice, big.NewInt(int64(2*n))), scale}.number()
}

// number formats the decimal without trailing zeros.
func (d decimal) number() json.Number {
	digits := d.at(d.scale).String()
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	if d.scale == 0 {
		return json.Number(sign + digits)
	}
	if len(digits) <= d.scale {
		digits = strings.Repeat("0", d.scale-len(digits)+1) + digits
	}
	whole, fraction := digits[:len(digits)-d.scale], strings.TrimRight(digits[len(digits)-d.scale:], "0")
	if fraction == "" {
		return json.Number(sign + whole)
	}
	return json.Number(sign + whole + "." + fraction)
}

// sortable returns a unique string that sorts like the number.
func (d decimal) sortable() string {
	units := d.at(max(d.scale, maxDigits*2))
	digits := new(big.Int).Abs(units).String()
	digits = strings.TrimRight(strings.Repeat("0", max(0, 4*maxDigits-len(digits)))+digits, "0")
	if units.Sign() >= 0 {
		return "+" + digits
	}
	flipped := []byte(digits)
	for i, c := range flipped {
		flipped[i] = '0' + '9' - c
	}
	return "!" + string(flipped) + "~"
}
