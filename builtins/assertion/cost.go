package assertion

import (
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/trial"
)

// CostConfig configures the check cost.
type CostConfig struct {
	Max *float64 `yaml:"max" min:"0" doc:"Maximum cost in USD."`
	Min *float64 `yaml:"min" min:"0" doc:"Minimum cost in USD."`
}

// Cost limits the cost of a run.
var Cost = component.New("cost", "The cost of the run in USD, by the prices of the spec's llms. A used llm without a price is an error; a price of 0 is valid.",
	func() CostConfig { return CostConfig{} }, newCost)

func newCost(c *CostConfig, _ trial.CheckSettings) (trial.Check, error) {
	return newLimits(limits{"cost", c.Min, c.Max, func(s *trial.Subject) (float64, string, error) {
		if len(s.Unpriced) > 0 {
			return 0, "", fmt.Errorf("the cost of the run is unknown because the llm %s has no price: set its cost: {input: ..., output: ...}, with zeros if it is free", strings.Join(s.Unpriced, ", "))
		}
		return s.Trace.Cost, "$" + formatNumber(s.Trace.Cost), nil
	}})
}
