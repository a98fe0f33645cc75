package runtime_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// replayLog is an eventLog that receives the events of earlier sessions too.
type replayLog struct{ eventLog }

func (h *replayLog) Replay(e engine.Event) { h.Send(e) }

// positions returns the numbers and types of the numbered events.
func (h *replayLog) positions() (out []string) {
	for _, ev := range h.events {
		if ev.Seq != 0 {
			out = append(out, fmt.Sprint(ev.Rewinds, ".", ev.Seq, " ", ev.Type))
		}
	}
	return out
}

// callUpToLimit returns a node that calls a tool six times, but not more often than
// limits.max_steps.
func callUpToLimit(name string) nodeFunc {
	return func(s engine.Scope) error {
		for i := range 6 {
			if s.Exceeded(func(l engine.Limits) bool { return i >= l.MaxSteps }) {
				return stop.AtLimit(stop.MaxSteps, "limits.max_steps", "%d calls were made", i)
			}
			if _, _, err := s.Tool(fmt.Sprint(name, ".", i), engine.Invocation{Tool: name, StepID: "s1"}); err != nil {
				return err
			}
		}
		return nil
	}
}

// Every session, replay and follower of a run whose limits were raised twice counts the
// same rewinds for the same event.
func TestRewindsAreDerivedFromTheJournal(t *testing.T) {
	question := newQuestionTool(tool.ReadEffect, func(call, n int) (interrupt.Question, bool) {
		return interrupt.Question{Question: "Which?"}, n == 1 && (call == 3 || call == 4) // the third call, which the answer starts again
	})
	j, p := &journal.Memory{RoundTrip: true}, program(map[string]nodeFunc{"a": callUpToLimit("x")})
	p.Limits.MaxSteps = 2
	host := func(sink engine.Sink) engine.Host {
		return engine.Host{Tools: []tool.Binding{named("x", question)}, Sinks: []engine.Sink{sink}}
	}
	var last []string
	run := func(o runtime.Options, wantRewinds int) *engine.Result {
		t.Helper()
		live, followed := &replayLog{}, &replayLog{}
		res := session(t, p, host(live), j, o)
		records := &journal.Memory{RoundTrip: true, Records: j.Records}
		session(t, p, host(followed), records, runtime.Options{Follow: &runtime.Tail{}})
		last = live.positions()
		if diff := cmp.Diff(last, followed.positions()); diff != "" {
			t.Errorf("the session and a follower differ: %s", diff)
		}
		for i, ev := range live.events {
			if ev.Seq == 0 && ev.Rewinds != 0 {
				t.Errorf("transient event %d has %d rewinds", i, ev.Rewinds)
			}
		}
		if got := lastNumbered(live).Rewinds; got != wantRewinds {
			t.Errorf("the last event has %d rewinds, want %d", got, wantRewinds)
		}
		return res
	}
	raise := func(res *engine.Result, steps int) runtime.Options {
		l := p.Limits
		l.MaxSteps = steps
		return runtime.Options{Extension: &runtime.LimitExtension{Limits: l, Spent: res.Usage.ByModel, Lost: res.LostCharges}}
	}
	res := run(runtime.Options{}, 0)
	first := last
	res = run(raise(res, 4), 1) // stops at the question
	if len(res.Interrupts) != 1 {
		t.Fatalf("%d questions are open: %+v", len(res.Interrupts), res.StopReason)
	}
	answers := map[string]json.RawMessage{res.Interrupts[0].Path: encodeAnswer(t, "this")}
	res = run(runtime.Options{Answers: answers}, 1)
	res = run(raise(res, 9), 2)
	if res.Status != stop.RunCompleted {
		t.Errorf("the run ended %+v", res.StopReason)
	}
	voided := 0
	for i, at := range first {
		if at != last[i] {
			voided++
		}
	}
	if voided != 2 {
		t.Errorf("the first raise voided %d events, want limit.reached and run.completed:\n%q\n%q", voided, first, last)
	}
}

func lastNumbered(h *replayLog) (last engine.Event) {
	for _, ev := range h.events {
		if ev.Seq != 0 {
			last = ev
		}
	}
	return last
}
