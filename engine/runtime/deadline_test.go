package runtime_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
)

// TestMaxDurationIncludesTheFinalizer checks that the walk leaves a tenth of the time for
// the finalizer, and that the run ends when max_duration has passed.
func TestMaxDurationIncludesTheFinalizer(t *testing.T) {
	sleeps := func(d time.Duration) nodeFunc {
		return func(s engine.Scope) error { return s.Sleep("nap."+d.String(), d) }
	}
	limited := func(s engine.Scope) error {
		if err := s.Sleep("nap", 5*time.Second); err != nil {
			return err
		}
		return stop.AtLimit(stop.MaxSteps, "limits.max_steps", "no more")
	}
	cases := []struct {
		name      string
		limit     time.Duration
		walk, end nodeFunc
		code      stop.Code
		took      time.Duration
	}{
		{"both take too long", 8 * time.Second, sleeps(time.Hour), sleeps(time.Hour), stop.Deadline, 8 * time.Second},
		{"the finalizer is quick", 8 * time.Second, sleeps(time.Hour), sleeps(100 * time.Millisecond), stop.Deadline, 7300 * time.Millisecond},
		{"at most 30 s are kept", time.Hour, sleeps(2 * time.Hour), sleeps(10 * time.Second), stop.Deadline, time.Hour - 20*time.Second},
		{"another limit stopped the run", 8 * time.Second, limited, sleeps(time.Hour), stop.MaxSteps, 8 * time.Second},
		{"there is no time limit", 0, limited, sleeps(time.Hour), stop.MaxSteps, time.Hour + 5*time.Second},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := program(map[string]nodeFunc{"a": c.walk})
			p.Nodes["finalizer"] = finalizer{c.end}
			p.Models = []engine.ModelSpec{{Name: "main"}} // without an LLM there is no finalizer
			p.Limits.MaxDuration = c.limit
			j := &journal.Memory{RoundTrip: true}
			for range 2 { // and again, from the journal alone
				res := session(t, p, engine.Host{}, j, runtime.Options{Virtual: true})
				if res.StopReason.Code != c.code || res.DurationMS != c.took.Milliseconds() {
					t.Errorf("%+v after %d ms, not %s", res.StopReason, res.DurationMS, c.took)
				}
			}
		})
	}
}

// TestExpiredTimeEndsComputingPhases checks that the walk, guards and the end of a model
// call are boundaries at which a run checks its time and for cancellation.
func TestExpiredTimeEndsComputingPhases(t *testing.T) {
	computes := func(d time.Duration) { time.Sleep(d) } // the scheduler does not run meanwhile
	for _, c := range []struct {
		name string
		node func(done *[]string) nodeFunc
		done []string
	}{
		{"between nodes", func(done *[]string) nodeFunc {
			return func(engine.Scope) error {
				*done = append(*done, "visit")
				computes(4 * time.Second)
				return nil
			}
		}, []string{"visit", "visit"}},
		{"before a model call", func(done *[]string) nodeFunc {
			return func(s engine.Scope) error {
				computes(time.Minute)
				*done = append(*done, "prompt")
				_, err := s.Model("model", model.Call{LLM: "main"})
				*done = append(*done, phaseEnd(err))
				return err
			}
		}, []string{"prompt", "ended"}},
		{"before guards", func(done *[]string) nodeFunc {
			return func(s engine.Scope) error {
				computes(time.Minute)
				*done = append(*done, "plan")
				v := s.View()
				_, err := s.Guards(engine.AfterPlan, v.Env)
				*done = append(*done, phaseEnd(err))
				return err
			}
		}, []string{"plan", "ended"}},
	} {
		for _, end := range []stop.Code{stop.Deadline, stop.Cancelled} {
			t.Run(c.name+"/"+string(end), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var done []string
					p := program(map[string]nodeFunc{"a": c.node(&done)}, guarded("a", "a", constantGuard(true)))
					p.Models = []engine.ModelSpec{{Name: "main"}}
					calls := 0
					h := engine.Host{Models: map[string]model.Model{"main": modelFunc(func() { calls++ })}}
					o := runtime.Options{}
					if end == stop.Deadline {
						p.Limits.MaxDuration = 5 * time.Second
					} else {
						cancel := make(chan struct{})
						time.AfterFunc(5*time.Second, func() { close(cancel) })
						o.Cancel = cancel
					}
					j := &journal.Memory{RoundTrip: true}
					for range 2 { // and again, from the journal alone
						done = nil
						res := session(t, p, h, j, o)
						if res.StopReason.Code != end || !slices.Equal(done, c.done) || calls > 0 {
							t.Errorf("%+v after %q and %d model calls", res.StopReason, done, calls)
						}
						o.Cancel = nil
					}
				})
			})
		}
	}
}

// phaseEnd returns a text that tells whether a phase ended with an error.
func phaseEnd(err error) string {
	if err != nil {
		return "ended"
	}
	return "went on"
}

type modelFunc func()

func (f modelFunc) Generate(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
	f()
	return &model.Reply{Text: "hello"}, nil
}
