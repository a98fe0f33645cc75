package engine_test

import (
	"testing"
	"time"

	"github.com/pexctl/pex/engine"
)

// A run that stopped at a limit goes on where that limit leaves more room than
// it did; other limits do not count.
func TestWhichLimitsLeaveMoreRoomAtAStop(t *testing.T) {
	at := func(n int) engine.Limits {
		return engine.Limits{
			MaxSteps: n, MaxReplans: n, MaxTokens: n, MaxCost: float64(n), MaxToolCalls: n, MaxDuration: time.Duration(n) * time.Second,
		}
	}
	all := map[engine.StopCode]func(*engine.Limits, engine.Limits){
		engine.StopMaxSteps:     func(l *engine.Limits, o engine.Limits) { l.MaxSteps = o.MaxSteps },
		engine.StopMaxReplans:   func(l *engine.Limits, o engine.Limits) { l.MaxReplans = o.MaxReplans },
		engine.StopBudgetTokens: func(l *engine.Limits, o engine.Limits) { l.MaxTokens = o.MaxTokens },
		engine.StopBudgetCost:   func(l *engine.Limits, o engine.Limits) { l.MaxCost = o.MaxCost },
		engine.StopMaxToolCalls: func(l *engine.Limits, o engine.Limits) { l.MaxToolCalls = o.MaxToolCalls },
		engine.StopDeadline:     func(l *engine.Limits, o engine.Limits) { l.MaxDuration = o.MaxDuration },
	}
	for code, set := range all {
		stop := engine.StopReason{Code: code}
		if !stop.Extendable() {
			t.Errorf("%s is not extendable", code)
		}
		for to, want := range map[int]bool{9: false, 10: false, 11: true} {
			own := at(10)
			set(&own, at(to))
			if got := own.Wider(at(10), stop.Code); got != want {
				t.Errorf("%s from 10 to %d: %t", code, to, got)
			}
			if others := at(11); to < 11 {
				set(&others, at(to))
				if others.Wider(at(10), stop.Code) {
					t.Errorf("%s from 10 to %d with more of all others: raised", code, to)
				}
			}
		}
		if code == engine.StopMaxSteps || code == engine.StopMaxReplans {
			continue // of these 0 is none at all
		}
		for _, tt := range []struct {
			from, to int
			want     bool
		}{{10, 0, true}, {0, 10, false}} { // 0 is no limit
			if got := at(tt.to).Wider(at(tt.from), stop.Code); got != tt.want {
				t.Errorf("%s from %d to %d: %t", code, tt.from, tt.to, got)
			}
		}
	}
	for _, code := range []engine.StopCode{engine.StopAnswered, engine.StopGuard, engine.StopLoop, engine.StopCancelled} {
		if stop := (engine.StopReason{Code: code}); stop.Extendable() || at(11).Wider(at(10), stop.Code) {
			t.Errorf("%s is no limit", code)
		}
	}
}
