package tool

import (
	"context"
	"errors"

	"github.com/pexctl/pex/dsl/guard/arithmetic"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// CalculatorConfig is the settings of calculator: there are none.
type CalculatorConfig struct{}

// Reaches implements engine.Reacher: nothing.
func (*CalculatorConfig) Reaches() []string { return nil }

// Calculator works out arithmetic.
var Calculator = component.New("calculator", "Works out an arithmetic expression.",
	func() CalculatorConfig { return CalculatorConfig{} }, newCalculator)

const calculatorInput = `{"type":"object","properties":{` +
	`"expression":{"type":"string","description":"For example (19.99 * 3 + 4) / 2 or sqrt(2) ** 3. Numbers only: no variables, no units, no thousands separators."}` +
	`},"required":["expression"],"additionalProperties":false}`

type calculator struct{ info engine.ToolInfo }

var _ engine.Tool = (*calculator)(nil)

func newCalculator(_ *CalculatorConfig, s engine.ToolSettings) (engine.Tool, error) {
	return &calculator{about(s, "calculator",
		"Works out an arithmetic expression: + - * / % ** and parentheses, sqrt, abs, round, floor, ceil, min, max, pow, ln, log10, exp, sin, cos, tan, pi, e. Use it for every calculation rather than your own head.",
		calculatorInput, engine.ReadEffect)}, nil
}

// Info implements engine.Tool.
func (t *calculator) Info() engine.ToolInfo { return t.info }

// Call implements engine.Tool.
func (t *calculator) Call(ctx context.Context, call *engine.Call) (*engine.ToolOutput, error) {
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
	return &engine.ToolOutput{Text: result}, nil
}
