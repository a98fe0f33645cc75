package assertion

import (
	"strconv"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/trial"
)

// TokensConfig configures the check tokens.
type TokensConfig struct {
	Max *int `yaml:"max" min:"0" doc:"Maximum number of tokens."`
	Min *int `yaml:"min" min:"0" doc:"Minimum number of tokens."`
}

// Tokens limits the number of tokens of a run.
var Tokens = component.New("tokens", "The number of input and output tokens of the run.",
	func() TokensConfig { return TokensConfig{} }, newTokens)

func newTokens(c *TokensConfig, _ trial.CheckSettings) (trial.Check, error) {
	return newLimits(limits{"tokens", intLimit(c.Min), intLimit(c.Max), func(s *trial.Subject) (float64, string, error) {
		return float64(s.Trace.Tokens), strconv.Itoa(s.Trace.Tokens), nil
	}})
}
