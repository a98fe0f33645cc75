package assertion

import (
	"strconv"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/trajectory"
	"github.com/pexctl/pex/eval/trial"
)

// StepsConfig configures the check steps.
type StepsConfig struct {
	Max *int `yaml:"max" min:"0" doc:"Maximum number of steps."`
	Min *int `yaml:"min" min:"0" doc:"Minimum number of steps."`
}

// Steps limits the number of steps of a run.
var Steps = component.New("steps", "The number of steps that the run started, without skipped ones.",
	func() StepsConfig { return StepsConfig{} }, newSteps)

func newSteps(c *StepsConfig, _ trial.CheckSettings) (trial.Check, error) {
	return newLimits(limits{"steps", intLimit(c.Min), intLimit(c.Max), func(s *trial.Subject) (float64, string, error) {
		n := trajectory.Executed(&s.Trace)
		return float64(n), strconv.Itoa(n), nil
	}})
}
