package assertion

import (
	"time"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/eval/trial"
)

// LatencyConfig configures the check latency.
type LatencyConfig struct {
	Max time.Duration `yaml:"max" min:"0s" doc:"Maximum duration, such as 20s."`
	Min time.Duration `yaml:"min" min:"0s" doc:"Minimum duration."`
}

// Latency limits the duration of a run.
var Latency = component.New("latency", "The duration of the run, from start to end.",
	func() LatencyConfig { return LatencyConfig{} }, newLatency)

func newLatency(c *LatencyConfig, _ trial.CheckSettings) (trial.Check, error) {
	return newLimits(limits{"latency", seconds(c.Min), seconds(c.Max), func(s *trial.Subject) (float64, string, error) {
		return s.Latency.Seconds(), s.Latency.Round(time.Millisecond).String(), nil
	}})
}

// seconds converts a duration limit; 0 = none.
func seconds(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	s := d.Seconds()
	return &s
}
