package engine_test

import (
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
)

// TestMaxDurationBoundsTheFinalizerToo: the walk ends so early that the finalizer
// has a tenth of the time, and the run ends when all of it is over.
func TestMaxDurationBoundsTheFinalizerToo(t *testing.T) {
	sleeps := func(d time.Duration) does {
		return func(s *engine.Scope) error { return s.Sleep("nap."+d.String(), d) }
	}
	limited := func(s *engine.Scope) error {
		if err := s.Sleep("nap", 5*time.Second); err != nil {
			return err
		}
		return engine.AtLimit(engine.StopMaxSteps, "limits.max_steps", "no more")
	}
	cases := []struct {
		name      string
		limit     time.Duration
		walk, end does
		code      engine.StopCode
		took      time.Duration
	}{
		{"both take too long", 8 * time.Second, sleeps(time.Hour), sleeps(time.Hour), engine.StopDeadline, 8 * time.Second},
		{"the finalizer is quick", 8 * time.Second, sleeps(time.Hour), sleeps(100 * time.Millisecond), engine.StopDeadline, 7300 * time.Millisecond},
		{"at most 30 s are kept", time.Hour, sleeps(2 * time.Hour), sleeps(10 * time.Second), engine.StopDeadline, time.Hour - 20*time.Second},
		{"another limit stopped the run", 8 * time.Second, limited, sleeps(time.Hour), engine.StopMaxSteps, 8 * time.Second},
		{"there is no time limit", 0, limited, sleeps(time.Hour), engine.StopMaxSteps, time.Hour + 5*time.Second},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := program(map[string]does{"a": c.walk})
			p.Nodes["finalizer"] = c.end
			p.Models = []engine.ModelSpec{{Name: "main"}} // without one the finalizer is left out
			p.Limits.MaxDuration = c.limit
			j := &journal.Memory{Paranoid: true}
			for range 2 { // and again, from the journal alone
				res := session(t, p, engine.Host{}, j, engine.Options{Virtual: true})
				if res.StopReason.Code != c.code || res.DurationMS != c.took.Milliseconds() {
					t.Errorf("%+v after %d ms, not %s", res.StopReason, res.DurationMS, c.took)
				}
			}
		})
	}
}
