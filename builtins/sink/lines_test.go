package sink_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/builtins/sink"
	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
)

func TestLinesReportWhatEnded(t *testing.T) {
	var b bytes.Buffer
	story{sink.NewLines(&b)}.whole()
	want := `run r-1: What is 6 * 7?
plan v1: 2 steps to do
  s1 Multiply
  s2 Write it down
  s1 calculator 6 < 7 & x ok (12ms)
s1 ok (1.5s, 300 tokens)
  s2 pencil n=2 page=top text="a b" error (12ms): unknown tool "pencil"
warning: a reply was mended
s2 failed (1.5s, 0 tokens): nothing to write with
guard "enough" (stop): that will do
limit reached: 2 of 2 steps are done (limits.max_steps)
2.5s, 4 model calls, 1 tool call, 1.2k tokens, $0.0012
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestLinesOfANewPlanShowTheRemainingSteps(t *testing.T) {
	var b bytes.Buffer
	s := story{sink.NewLines(&b)}
	s.plan(1, "one", "two")
	s.step("s1", "one")
	s.stepDone("s1", plan.OK, "", "")
	b.Reset()
	s.plan(2, "one", "another")
	if want := "plan v2: 1 step to do\n  s2 two\n"; b.String() != want { // IDs are never reused, so the goal of a step does not change
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

func TestLinesReportWaits(t *testing.T) {
	var b bytes.Buffer
	s := story{sink.NewLines(&b)}
	wait := &model.RetryEvent{Attempt: 2, MaxAttempts: 3, Wait: 4000, Error: "rate_limit (HTTP 429): Too Many\nRequests"}
	s.send(engine.Event{Type: engine.ModelRetrying, Model: "main", Retry: wait})
	s.send(engine.Event{Type: engine.ToolRetrying, Tool: "look", Agent: "s1/helper", Retry: wait})
	want := `llm main: retrying 2/3 in 4.0s: rate_limit (HTTP 429): Too Many Requests
tool look: retrying 2/3 in 4.0s: rate_limit (HTTP 429): Too Many Requests
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// hostile sends events in which every text of models and tools contains terminal control
// sequences.
func hostile(s story) {
	evil := "a\x1b[2J\u009b1m\r\n\x9b\a"
	s.start(evil)
	s.send(engine.Event{Type: engine.PlanCreated, Plan: &plan.Plan{Version: 1, Steps: []plan.Step{{ID: evil, Goal: evil}}}})
	s.step(evil, evil)
	s.asks("m", "executor", evil)
	s.says("m", evil)
	s.tool(evil, evil, `{"x":"\u001b[2J"}`)
	s.toolDone(evil, evil, `{"x":"\u001b[2J","y":"\u009b"}`, "error", evil)
	s.send(engine.Event{Type: engine.Warning, Text: evil})
	s.send(engine.Event{Type: engine.ToolRetrying, Tool: evil, Retry: &model.RetryEvent{Error: evil}})
	s.send(engine.Event{Type: engine.GuardFired, Guard: &engine.GuardEvent{Name: evil, Message: evil}})
	s.stepDone(evil, plan.Failed, evil, evil)
	s.end(stop.RunFailed, stop.StepFailed)
}

func TestLinesEscapeControlSequences(t *testing.T) {
	var b bytes.Buffer
	l := sink.NewLines(&b)
	hostile(story{l})
	l.Note("x\x1b[2J")
	if got := b.String(); got != tty.Safe(got) {
		t.Errorf("%q", got)
	}
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "\u009b") || strings.TrimSpace(line) == "" {
			t.Errorf("a line was broken: %q", line)
		}
	}
}

func TestJSONLWritesOneLinePerEvent(t *testing.T) {
	var b bytes.Buffer
	j := sink.NewJSONL(&b)
	story{j}.whole()
	if j.Err() != nil {
		t.Fatal(j.Err())
	}
	n := 0
	for line := range strings.Lines(b.String()) {
		n++
		var ev engine.Event
		if err := json.Unmarshal([]byte(line), &ev); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if ev.V != engine.EventVersion || ev.Run != "r-1" || ev.Type == "" {
			t.Errorf("%q", line)
		}
	}
	if n != 17 {
		t.Errorf("%d lines", n)
	}
}

// full is a writer that always fails.
type full struct{ writes int }

var errFull = errors.New("no space")

func (f *full) Write([]byte) (int, error) { f.writes++; return 0, errFull }

func TestJSONLKeepsTheFirstError(t *testing.T) {
	f := &full{}
	j := sink.NewJSONL(f)
	story{j}.whole()
	if !errors.Is(j.Err(), errFull) || f.writes != 1 {
		t.Errorf("%v after %d writes", j.Err(), f.writes)
	}
}
