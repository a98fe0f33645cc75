package arithmetic_test

import (
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/dsl/guard/arithmetic"
)

func TestArithmetic(t *testing.T) {
	cases := []struct{ src, want string }{
		{"42", "42"},
		{" 6 * 7 ", "42"},
		{"84 / 2", "42"},
		{"7 / 2", "3.5"},
		{"1 / 3", "0.333333333333333"},
		{"1 / 3 * 3", "1"},
		{"2 / 3", "0.666666666666667"},
		{"0.1 + 0.2", "0.3"},
		{"1.1 * 1.1", "1.21"},
		{"0.1 + 0.2 - 0.3", "0"},
		{"1.0", "1"},
		{".5 + 5.", "5.5"},
		{"1e3 + 1E-3", "1000.001"},
		{"1_000_000 * 3", "3000000"},
		{"2 + 3 * 4", "14"},
		{"(2 + 3) * 4", "20"},
		{"10 - 4 - 3", "3"},
		{"100 / 10 / 2", "5"},
		{"2 ^ 10", "1024"},
		{"2 ** 10", "1024"},
		{"2 ^ 3 ^ 2", "512"},
		{"-2 ^ 2", "-4"},
		{"(-2) ^ 2", "4"},
		{"2 ^ -2", "0.25"},
		{"2 * -3", "-6"},
		{"--3", "3"},
		{"+3 - -3", "6"},
		{"4 ^ 0.5", "2"},
		{"2 ^ 64", "18446744073709551616"},
		{"9007199254740993 + 0", "9007199254740993"},
		{"99999999999 * 99999999999", "9999999999800000000001"},
		{"0 ^ 0", "1"},
		{"(-1) ^ 1000001", "-1"},
		{"(-1) ^ 1000000", "1"},
		{"17 % 5", "2"},
		{"-7 % 3", "-1"},
		{"7.5 % 2", "1.5"},
		{"sqrt(16)", "4"},
		{"sqrt(2)", "1.4142135623731"},
		{"sqrt(2) * sqrt(2)", "2"},
		{"sqrt(0.25)", "0.5"},
		{"abs(-3.5)", "3.5"},
		{"round(2.5)", "3"},
		{"round(-2.5)", "-3"},
		{"round(3.14159, 2)", "3.14"},
		{"round(2.675, 2)", "2.68"},
		{"round(1234, -2)", "1200"},
		{"floor(-1.5) + ceil(-1.5)", "-3"},
		{"floor(7 / 2)", "3"},
		{"min(3, 1, 2) + max(3, 1, 2)", "4"},
		{"pow(2, 8)", "256"},
		{"ln(e)", "1"},
		{"log(e ^ 2)", "2"},
		{"log(8, 2)", "3"},
		{"log10(1000)", "3"},
		{"exp(0)", "1"},
		{"exp(100)", "2.68811714181614e+43"},
		{"sin(0) + cos(0)", "1"},
		{"tan(pi / 4)", "1"},
		{"pi", "3.14159265358979"},
		{"2 * PI", "6.28318530717959"},
		{"math.sqrt(9)", "3"},
		{"1 / 1000000000", "1e-09"},
		{"1234.5678 * 100", "123456.78"},
		{"0.07 * 100", "7"},
		{"19.99 * 3", "59.97"},
		{"1e300 * 1e90 / 1e380", "10000000000"},
		{"3 × 4 ÷ 2 − 1", "5"},
		{"√(9)", "3"},
		{"(1 + 0.05) ^ 30 * 1000", "4321.94237515066"},
	}
	for _, c := range cases {
		t.Run(c.src, func(t *testing.T) {
			if got, err := arithmetic.Evaluate(c.src); err != nil || got != c.want {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
}

func TestArithmeticErrors(t *testing.T) {
	cases := []struct{ src, want string }{
		{"", "column 1: the expression is empty"},
		{"1 / 0", "column 3: division by zero"},
		{"1 % (2 - 2)", "column 3: division by zero"},
		{"0 ^ -1", "column 3: division by zero: 0 to a negative power"},
		{"1 +", "column 4: unexpected end of the expression"},
		{"(1 + 2", "column 7: unexpected end of the expression"},
		{"1 2", "column 3: unexpected '2'"},
		{"1,000 * 2", "column 2: unexpected ','; write numbers with a decimal point and without thousands separators"},
		{"$5 * 2", "column 1: unexpected '$'; write numbers without units"},
		{"x = 3", "column 1: unknown name x; use numbers, pi, e and the functions abs ceil cos exp floor ln log log10 max min pow round sin sqrt tan"},
		{"2 = 2", "column 3: unexpected '='; write an expression, not an equation"},
		{"7 // 2", `column 3: unexpected "//"; write floor(a / b)`},
		{"100 + 5%", "column 8: % is the remainder of a division; write 0.05 for 5 percent"},
		{"sqrt(-1)", "column 1: sqrt is not defined for this value"},
		{"ln(0)", "column 1: ln is not defined for this value"},
		{"log(2, 1)", "column 1: log is not defined for base 1"},
		{"(-8) ^ 0.5", "column 6: the power is not defined for this value"},
		{"10 ^ 5000", "column 4: the result of the power is too large: overflow"},
		{"9 ^ 9 ^ 9", "column 3: the result of the power is too large: overflow"},
		{"exp(1000)", "column 1: the result of exp is too large: overflow"},
		{"1e500", "column 1: the number 1e500 is too large or too small"},
		{"1e99999999999", "column 1: the number 1e99999999999 is too large or too small"},
		{"sqrt 4", "column 6: write sqrt(...)"},
		{"sqrt()", "column 6: unexpected ')'"},
		{"sqrt(1, 2)", "column 1: sqrt takes 1 value, not 2"},
		{"pow(2)", "column 1: pow takes 2 values, not 1"},
		{"round(1, 2, 3)", "column 1: round takes 1 or 2 values, not 3"},
		{"round(1, 0.5)", "column 1: round takes an integer number of digits"},
		{"1.2.3", "column 4: unexpected '.'"},
		{".", "column 1: . is not a number"},
		{"é", "column 1: unexpected 'é'"},
		{"import os", "column 1: unknown name import; use numbers, pi, e and the functions abs ceil cos exp floor ln log log10 max min pow round sin sqrt tan"},
		{strings.Repeat("(", 100) + "1", "column 65: the expression is nested more than 64 levels deep"},
		{strings.Repeat("1", 5000), "the expression has 5000 bytes; the maximum is 4096"},
	}
	for _, c := range cases {
		t.Run(c.src, func(t *testing.T) {
			if got, err := arithmetic.Evaluate(c.src); err == nil || err.Error() != c.want {
				t.Errorf("got %s, %v\nwant %s", got, err, c.want)
			}
		})
	}
}

func TestArithmeticIsBounded(t *testing.T) {
	for _, src := range []string{
		strings.Repeat("9999999999*", 370) + "1", strings.Repeat("1e400*", 600) + "1", strings.Repeat("1e-400*", 600) + "1",
		strings.Repeat("1/3+", 900) + "1", strings.Repeat("(1/7)^99*", 400) + "1", strings.Repeat("-", 4000) + "1",
		strings.Repeat("pi*", 1300) + "1", strings.Repeat("2^", 2000) + "2", "1.0000001^4000^4000", strings.Repeat("9", 4096),
		strings.Repeat("sqrt(", 800) + "2" + strings.Repeat(")", 800), strings.Repeat("0.123456789+1/", 200) + "3",
	} {
		start := time.Now()
		got, err := arithmetic.Evaluate(src)
		if d := time.Since(start); d > 5*time.Second*slower {
			t.Errorf("%.30s... took %v (%.30s, %v)", src, d, got, err)
		}
	}
}

// FuzzArithmetic checks that Evaluate does not panic, and that it accepts its own
// results.
func FuzzArithmetic(f *testing.F) {
	for _, src := range []string{"1 + 2 * 3", "sqrt(2) ^ -3 % 5", "round(2.675, 2)", "min(1, 2)", "1e-3", "--1", "2e", "pi*e"} {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		got, err := arithmetic.Evaluate(src)
		if err != nil {
			return
		}
		if _, err := arithmetic.Evaluate(got); err != nil {
			t.Fatalf("%q gives %s, which gives %v", src, got, err)
		}
	})
}
