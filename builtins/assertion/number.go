package assertion

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/trial"
)

// NumberConfig configures the check number.
type NumberConfig struct {
	Value     component.Template  `yaml:"value" required:"true" vars:"case,parameters" doc:"Expected number."`
	Tolerance float64             `yaml:"tolerance" min:"0" doc:"Maximum absolute difference."`
	Relative  float64             `yaml:"relative" min:"0" doc:"Maximum relative difference: 0.01 is one percent of the expected number. The wider of both tolerances applies."`
	Find      string              `yaml:"find" enum:"last|first|any|only" doc:"Which number in a text counts: the last, the first, any, or the only one."`
	Path      component.FilterRef `yaml:"path" doc:"JSONPath of the single output value to check instead of the response."`
}

// Number checks a number in the answer.
var Number = component.New("number", "The answer contains the expected number, within a tolerance. Recognizes decimals, thousands separated by commas, and exponents. Ignores a currency before, and % or a unit after the number, and digits at the end of a word (v2, gpt-4).",
	func() NumberConfig { return NumberConfig{Find: "last"} }, newNumber)

// numeral matches number candidates; the text around them decides whether they are
// numbers.
var numeral = text.Regexp(`[-+−]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?`)

// maxNumerals is the maximum number of candidates in a text.
const maxNumerals = 10_000

func newNumber(c *NumberConfig, _ trial.CheckSettings) (trial.Check, error) {
	if c.Value.Text == "" {
		return nil, errors.New("number requires value")
	}
	return onText{c.Path, func(_ context.Context, s *trial.Subject, text string) (trial.Mark, error) {
		expected, err := render(c.Value, s)
		if err != nil {
			return trial.Mark{}, err
		}
		want, ok := jsonvalue.ParseNumber(strings.ReplaceAll(strings.TrimSpace(expected), ",", ""))
		if !ok {
			return trial.Mark{}, fmt.Errorf("value %s is not a number", brief(expected))
		}
		return c.mark(text, expected, want), nil
	}}, nil
}

// mark compares the numbers in the answer with the expected one.
func (c *NumberConfig) mark(answer, expected string, want *big.Rat) trial.Mark {
	found := numerals(answer)
	if len(found) == 0 {
		return boolean(false, expected, answer, "the answer contains no number")
	}
	candidates := found[len(found)-1:]
	switch c.Find {
	case "first":
		candidates = found[:1]
	case "any":
		candidates = found
	case "only":
		if len(found) > 1 {
			return boolean(false, expected, answer, "the answer contains "+text.Count(len(found), "number")+", not one")
		}
	}
	for _, written := range candidates {
		if got, ok := parseNumeral(written); ok && c.isClose(want, got) {
			return boolean(true, expected, written, "the answer is "+written)
		}
	}
	actual := candidates[len(candidates)-1]
	return boolean(false, expected, actual, "the answer is "+actual+", not "+expected+c.margin())
}

// isClose reports whether a number is within the tolerance.
func (c *NumberConfig) isClose(want, got *big.Rat) bool {
	off := new(big.Rat).Sub(want, got)
	off.Abs(off)
	share := new(big.Rat).Mul(new(big.Rat).Abs(want), exactly(c.Relative))
	return off.Cmp(exactly(c.Tolerance)) <= 0 || off.Cmp(share) <= 0
}

// margin formats the tolerance.
func (c *NumberConfig) margin() string {
	out := ""
	if c.Tolerance > 0 {
		out += " ± " + formatNumber(c.Tolerance)
	}
	if c.Relative > 0 {
		out += " ± " + formatNumber(100*c.Relative) + " %"
	}
	return out
}

// numerals returns the numbers in a text, as written.
func numerals(text string) []string {
	var out []string
	for _, at := range numeral().FindAllStringIndex(text, maxNumerals) {
		before, written := text[:at[0]], text[at[0]:at[1]]
		unsigned := strings.TrimLeft(written, "-+−")
		switch {
		case endsIn(before, unicode.IsLetter): // v2, gpt-4
		case endsIn(before, unicode.IsDigit) && unsigned == written: // the rest of 10.0.0.1
		case endsIn(before, unicode.IsDigit):
			out = append(out, unsigned) // a hyphen, as in 2026-11
		default:
			out = append(out, written)
		}
	}
	return out
}

// endsIn reports whether the last character of text is of the kind. _ counts as a letter.
func endsIn(text string, kind func(rune) bool) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return kind(r) || r == '_' && kind('a')
}

// parseNumeral parses a number in a text.
func parseNumeral(written string) (*big.Rat, bool) {
	return jsonvalue.ParseNumber(strings.NewReplacer(",", "", "−", "-").Replace(written))
}
