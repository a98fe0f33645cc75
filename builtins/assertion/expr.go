package assertion

import (
	"context"
	"errors"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/eval/trial"
)

// ExprConfig configures the check expr.
type ExprConfig struct {
	That component.GuardRef `yaml:"that" required:"true" env:"@checks" doc:"Expression over output, trace, parameters and case that must be true. A plain string in a list of checks is such an expression."`
}

// Expr checks that an expression is true.
var Expr = component.New("expr", "An expression is true, such as output contains \"yes\" or trace.tools.search.calls <= 2.",
	func() ExprConfig { return ExprConfig{} }, newExpr)

type expression struct{ that component.GuardRef }

var (
	_ trial.Check    = expression{}
	_ trial.Prompted = expression{}
)

func newExpr(c *ExprConfig, _ trial.CheckSettings) (trial.Check, error) {
	if c.That.IsZero() {
		return nil, errors.New("expr requires that, an expression")
	}
	return expression{c.That}, nil
}

// Prompts implements trial.Prompted.
func (e expression) Prompts() bool { return strings.Contains(e.that.Source, "prompts") }

// Check implements trial.Check. An expression that refers to a missing part of the output
// is false.
func (e expression) Check(_ context.Context, s *trial.Subject) (trial.Mark, error) {
	ok, err := e.that.Eval(map[string]any{"output": s.Output, "trace": s.Trace, "parameters": s.Parameters, "case": s.Case})
	switch {
	case err != nil:
		return boolean(false, e.that.Source, valuesOf(e.that.Source, s), err.Error()), nil
	case !ok:
		return boolean(false, e.that.Source, valuesOf(e.that.Source, s), e.that.Source+" is false"), nil
	}
	return boolean(true, e.that.Source, jsonvalue.Text(s.Output), e.that.Source+" is true"), nil
}
