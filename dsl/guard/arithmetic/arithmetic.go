package arithmetic

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pexctl/pex/dsl/guard/exact"
)

// Evaluate evaluates an expression of numbers: + - * / % ^ (or **), parentheses,
// decimals and exponents, the constants pi and e, and the functions sqrt abs
// round floor ceil min max pow ln log log10 exp sin cos tan. log is the natural
// logarithm, log(x, base) the logarithm to a base; round(x, digits) rounds to
// decimals, halves away from zero; % has the sign of its left operand; angles are
// in radians.
//
// Whole numbers and fractions are exact: 0.1 + 0.2 is 0.3. Results that are not
// whole numbers have 15 significant digits.
func Evaluate(src string) (string, error) {
	if len(src) > maxSource {
		return "", fmt.Errorf("the expression has %d bytes; the maximum is %d", len(src), maxSource)
	}
	c := &calculation{src: signs.Replace(src)}
	v, err := c.evaluate()
	if err != nil {
		return "", err
	}
	return v.show(), nil
}

// signs replaces typographic operators that humans and models write.
var signs = strings.NewReplacer("×", "*", "·", "*", "÷", "/", "−", "-", "–", "-", "π", "pi", "√", "sqrt")

// Limits of a source.
const (
	maxSource = 4096 // bytes
	maxDepth  = 64   // nested brackets or signs
)

// calculation evaluates an expression while reading it from left to right.
type calculation struct {
	src   string
	at    int
	depth int
}

// stop is a panic value that carries an error out of the recursive descent.
type stop struct{ err error }

func (c *calculation) fail(at int, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	panic(stop{fmt.Errorf("column %d: %s", utf8.RuneCountInString(c.src[:at])+1, message)})
}

func (c *calculation) evaluate() (v num, err error) {
	defer func() {
		if r := recover(); r != nil {
			s, ok := r.(stop)
			if !ok {
				panic(r)
			}
			err = s.err
		}
	}()
	if c.peek() == 0 {
		c.fail(c.at, "the expression is empty")
	}
	v = c.sum()
	if c.peek() != 0 {
		c.unexpected()
	}
	return v, nil
}

// peek skips blanks and returns the next byte, or 0 at the end.
func (c *calculation) peek() byte {
	for c.at < len(c.src) && strings.IndexByte(" \t\r\n", c.src[c.at]) >= 0 {
		c.at++
	}
	if c.at == len(c.src) {
		return 0
	}
	return c.src[c.at]
}

// take skips one of the operators, the longest first, and returns it.
func (c *calculation) take(operators ...string) (op string, at int) {
	c.peek()
	for _, o := range operators {
		if strings.HasPrefix(c.src[c.at:], o) {
			at = c.at
			c.at += len(o)
			return o, at
		}
	}
	return "", c.at
}

func (c *calculation) unexpected() {
	rest := c.src[c.at:]
	r, _ := utf8.DecodeRuneInString(rest)
	switch {
	case rest == "":
		c.fail(c.at, "unexpected end of the expression")
	case r == ',':
		c.fail(c.at, "unexpected ','; write numbers with a decimal point and without thousands separators")
	case r == '=':
		c.fail(c.at, "unexpected '='; write an expression, not an equation")
	case r == '$' || r == '€' || r == '£':
		c.fail(c.at, "unexpected %q; write numbers without units", r)
	}
	c.fail(c.at, "unexpected %q", r)
}

func (c *calculation) sum() num {
	v := c.product()
	for {
		op, at := c.take("+", "-")
		if op == "" {
			return v
		}
		w := c.product()
		if op == "+" {
			v = num{new(big.Rat).Add(v.r, w.r), v.exact && w.exact}
		} else {
			v = num{new(big.Rat).Sub(v.r, w.r), v.exact && w.exact}
		}
		c.bound(at, v)
	}
}

func (c *calculation) product() num {
	v := c.signed()
	for {
		if strings.HasPrefix(c.src[c.at:], "**") {
			return v
		}
		op, at := c.take("//", "*", "/", "%")
		if op == "" {
			return v
		}
		if op == "//" {
			c.fail(at, "unexpected \"//\"; write floor(a / b)")
		}
		if op == "%" && strings.IndexByte("\x00)+-*/,", c.peek()) >= 0 {
			c.fail(at, "%% is the remainder of a division; write 0.05 for 5 percent")
		}
		v = c.multiply(at, op, v, c.signed())
		c.bound(at, v)
	}
}

func (c *calculation) multiply(at int, op string, v, w num) num {
	ok := v.exact && w.exact
	if op == "*" {
		return num{new(big.Rat).Mul(v.r, w.r), ok}
	}
	if w.r.Sign() == 0 {
		c.fail(at, "division by zero")
	}
	q := new(big.Rat).Quo(v.r, w.r)
	if op == "/" {
		return num{q, ok}
	}
	whole := new(big.Rat).SetInt(exact.Truncate(q))
	return num{new(big.Rat).Sub(v.r, whole.Mul(whole, w.r)), ok}
}

func (c *calculation) signed() num {
	if c.depth++; c.depth > maxDepth {
		c.fail(c.at, "the expression is nested more than %d levels deep", maxDepth)
	}
	defer func() { c.depth-- }()
	switch op, _ := c.take("+", "-"); op {
	case "-":
		v := c.signed()
		return num{new(big.Rat).Neg(v.r), v.exact}
	case "+":
		return c.signed()
	}
	base := c.operand()
	if op, at := c.take("**", "^"); op != "" {
		return c.power(at, base, c.signed())
	}
	return base
}

// operand reads a number, a constant, a call, or an expression in parentheses.
func (c *calculation) operand() num {
	switch b := c.peek(); {
	case b == '(':
		c.at++
		v := c.sum()
		if op, _ := c.take(")"); op == "" {
			c.unexpected()
		}
		return v
	case b == '.' || '0' <= b && b <= '9':
		return c.number()
	case 'a' <= b|0x20 && b|0x20 <= 'z':
		return c.named()
	}
	c.unexpected()
	return num{}
}

// number reads 12, 1.5, .5, 1e-3 or 1_000.
func (c *calculation) number() num {
	start := c.at
	digits := func() {
		for c.at < len(c.src) && (c.src[c.at] >= '0' && c.src[c.at] <= '9' || c.src[c.at] == '_') {
			c.at++
		}
	}
	digits()
	if c.at < len(c.src) && c.src[c.at] == '.' {
		c.at++
		digits()
	}
	mantissa := c.at
	if c.at < len(c.src) && c.src[c.at]|0x20 == 'e' {
		c.at++
		if c.at < len(c.src) && (c.src[c.at] == '+' || c.src[c.at] == '-') {
			c.at++
		}
		digits()
		exponent, err := strconv.Atoi(c.src[mantissa+1 : c.at])
		if err != nil {
			c.at = mantissa // 2e is 2 and the name e
		} else if exponent > exact.MaxExponent || exponent < -exact.MaxExponent {
			c.fail(start, "the number %s is too large or too small", c.src[start:c.at])
		}
	}
	r, ok := new(big.Rat).SetString(strings.ReplaceAll(c.src[start:c.at], "_", ""))
	if !ok {
		c.fail(start, "%s is not a number", c.src[start:c.at])
	}
	return num{r, true}
}

// named reads a constant or a call.
func (c *calculation) named() num {
	start := c.at
	for c.at < len(c.src) && wordByte(c.src[c.at]) {
		c.at++
	}
	name := strings.ToLower(strings.TrimPrefix(c.src[start:c.at], "math."))
	if v, ok := constants[name]; ok {
		return inexact(v)
	}
	f, ok := arithmeticFunctions[name]
	if !ok {
		c.fail(start, "unknown name %s; use numbers, pi, e and the functions %s", c.src[start:c.at], functionNames)
	}
	if op, _ := c.take("("); op == "" {
		c.fail(c.at, "write %s(...)", name)
	}
	var args []num
	for {
		args = append(args, c.sum())
		if op, _ := c.take(","); op == "" {
			break
		}
	}
	if op, _ := c.take(")"); op == "" {
		c.unexpected()
	}
	if len(args) < f.least || len(args) > f.most {
		c.fail(start, "%s takes %s, not %d", name, f.takes(), len(args))
	}
	v := f.call(c, start, args)
	c.bound(start, v)
	return v
}

func wordByte(b byte) bool {
	return b == '_' || b == '.' || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}
