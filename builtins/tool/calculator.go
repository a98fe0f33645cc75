package tool

import (
	"context"
	"errors"

	"github.com/pexctl/pex/dsl/guard/arithmetic"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
)

// CalculatorConfig configures calculator. It has no settings.
type CalculatorConfig struct{}

// Access implements tool.AccessDescriber.
func (*CalculatorConfig) Access() []string { return nil }

// Calculator evaluates arithmetic expressions.
var Calculator = component.New("calculator", "Evaluates an arithmetic expression.",
	func() CalculatorConfig { return CalculatorConfig{} }, newCalculator)

const calculatorInput = `{"type":"object","properties":{` +
	`"expression":{"type":"string","description":"The expression, for example (19.99 * 3 + 4) / 2 or sqrt(2) ** 3. Numbers only: no variables, units or thousands separators."}` +
	`},"required":["expression"],"additionalProperties":false}`

type calculator struct{ info tool.Info }

var _ tool.Tool = (*calculator)(nil)

func newCalculator(_ *CalculatorConfig, s tool.Settings) (tool.Tool, error) {
	return &calculator{toolInfo(s, "calculator",
		"Evaluates an arithmetic expression. Supports + - * / % ** and parentheses, sqrt, abs, round, floor, ceil, min, max, pow, ln, log10, exp, sin, cos, tan, pi, e. Use it for every calculation instead of mental arithmetic.",
		calculatorInput, tool.ReadEffect)}, nil
}

// Info implements tool.Tool.
func (t *calculator) Info() tool.Info { return t.info }

// Call implements tool.Tool.
func (t *calculator) Call(ctx context.Context, call *tool.Call) (*tool.Output, error) {
	args, err := arguments[struct {
		Expression string `json:"expression"`
	}](ctx, call)
	if err != nil {
		return nil, err
	}
	if args.Expression == "" {
		return nil, errors.New(`argument "expression" is missing; pass something like 6 * 7`)
	}
	result, err := arithmetic.Evaluate(args.Expression)
	if err != nil {
		return nil, err
	}
	return &tool.Output{Text: result}, nil
}
