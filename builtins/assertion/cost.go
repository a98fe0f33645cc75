package assertion

import (
	"errors"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/trial"
)

// CostConfig is the keys of cost.
type CostConfig struct {
	Max *float64 `yaml:"max" min:"0" doc:"Most USD."`
	Min *float64 `yaml:"min" min:"0" doc:"Least USD."`
}

// Cost bounds the cost of a run.
var Cost = component.New("cost", "What the run cost in USD, by the prices that the spec's llms have. That nothing was paid for tokens is an error: the prices are missing.",
	func() CostConfig { return CostConfig{} }, newCost)

func newCost(c *CostConfig, _ trial.CheckSettings) (trial.Check, error) {
	return newWithin(within{"cost", c.Min, c.Max, func(s *trial.Subject) (float64, string, error) {
		if s.Trace.Cost == 0 && s.Trace.Tokens > 0 {
			return 0, "", errors.New("the run took tokens and cost nothing, so its llms have no price: write cost: {input: ..., output: ...} for them, or leave this check out where they are free")
		}
		return s.Trace.Cost, "$" + figure(s.Trace.Cost), nil
	}})
}
