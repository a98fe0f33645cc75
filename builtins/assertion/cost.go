package assertion

import (
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/trial"
)

// CostConfig is the keys of cost.
type CostConfig struct {
	Max *float64 `yaml:"max" min:"0" doc:"Maximum cost in USD."`
	Min *float64 `yaml:"min" min:"0" doc:"Minimum cost in USD."`
}

// Cost bounds the cost of a run.
var Cost = component.New("cost", "The cost of the run in USD, by the prices of the spec's llms. A used llm without a price is an error; a price of 0 is valid.",
	func() CostConfig { return CostConfig{} }, newCost)

func newCost(c *CostConfig, _ trial.CheckSettings) (trial.Check, error) {
	return newWithin(within{"cost", c.Min, c.Max, func(s *trial.Subject) (float64, string, error) {
		if len(s.Unpriced) > 0 {
			return 0, "", fmt.Errorf("what the run cost is not known, for the llm %s has no price: write cost: {input: ..., output: ...} for it, zeros where it is free", strings.Join(s.Unpriced, ", "))
		}
		return s.Trace.Cost, "$" + figure(s.Trace.Cost), nil
	}})
}
