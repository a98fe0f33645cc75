package runtime_test

import (
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/stop"
)

// A run that stopped at a limit can continue if that limit is raised; other limits do not
// matter.
func TestWiderComparesTheLimitOfTheStop(t *testing.T) {
	at := func(n int) engine.Limits {
		return engine.Limits{
			MaxSteps: n, MaxReplans: n, MaxTokens: n, MaxCost: float64(n), MaxToolCalls: n, MaxDuration: time.Duration(n) * time.Second,
		}
	}
	all := map[stop.Code]func(*engine.Limits, engine.Limits){
		stop.MaxSteps:     func(l *engine.Limits, o engine.Limits) { l.MaxSteps = o.MaxSteps },
		stop.MaxReplans:   func(l *engine.Limits, o engine.Limits) { l.MaxReplans = o.MaxReplans },
		stop.BudgetTokens: func(l *engine.Limits, o engine.Limits) { l.MaxTokens = o.MaxTokens },
		stop.BudgetCost:   func(l *engine.Limits, o engine.Limits) { l.MaxCost = o.MaxCost },
		stop.MaxToolCalls: func(l *engine.Limits, o engine.Limits) { l.MaxToolCalls = o.MaxToolCalls },
		stop.Deadline:     func(l *engine.Limits, o engine.Limits) { l.MaxDuration = o.MaxDuration },
	}
	for code, set := range all {
		end := stop.Reason{Code: code}
		if !end.Extendable() {
			t.Errorf("%s is not extendable", code)
		}
		for to, want := range map[int]bool{9: false, 10: false, 11: true} {
			own := at(10)
			set(&own, at(to))
			if got := own.Wider(at(10), end.Code); got != want {
				t.Errorf("%s from 10 to %d: %t", code, to, got)
			}
			if others := at(11); to < 11 {
				set(&others, at(to))
				if others.Wider(at(10), end.Code) {
					t.Errorf("%s from 10 to %d with all other limits raised: wider", code, to)
				}
			}
		}
		if code == stop.MaxSteps || code == stop.MaxReplans {
			continue // 0 is not unlimited for these
		}
		for _, tt := range []struct {
			from, to int
			want     bool
		}{{10, 0, true}, {0, 10, false}} { // 0 = no limit
			if got := at(tt.to).Wider(at(tt.from), end.Code); got != tt.want {
				t.Errorf("%s from %d to %d: %t", code, tt.from, tt.to, got)
			}
		}
	}
	for _, code := range []stop.Code{stop.Answered, stop.Guard, stop.Loop, stop.Cancelled} {
		if stop := (stop.Reason{Code: code}); stop.Extendable() || at(11).Wider(at(10), stop.Code) {
			t.Errorf("%s is not a limit", code)
		}
	}
}
