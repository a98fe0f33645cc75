package sink_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/builtins/sink"
	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

// halfDone returns a run that waits in its third step.
func halfDone() *engine.Result {
	return &engine.Result{
		RunID: "r-1", Status: stop.RunInterrupted, StartedAt: startTime, DurationMS: 2500,
		StopReason: stop.Reason{Code: stop.Interrupted, Message: "waiting for an answer"},
		Spec:       engine.SpecInfo{Name: "demo", Version: "2"},
		Plan: plan.Plan{Version: 2, Steps: []plan.Step{
			{ID: "s1", Goal: "Multiply"}, {ID: "s3", Goal: "Send\nit"}, {ID: "s4", Goal: "Rest"},
		}},
		Steps: []plan.StepRecord{
			{ID: "s1", Goal: "Multiply", Status: plan.OK, Attempts: 2, DurationMS: 1500, Result: "It is 42.\nSurely.", ToolCalls: []tool.Record{
				{Tool: "calculator", Args: json.RawMessage(`{"expression":"6 * 7"}`), Result: map[string]any{"value": 42}, Status: tool.CallOK},
				{Tool: "pencil", Args: json.RawMessage(`{}`), Result: "there is no pencil", Status: tool.CallError},
			}},
			{ID: "s2", Goal: "Dropped", Status: plan.Failed, Error: "nothing to write with"},
			{ID: "s3", Goal: "Send\nit", Status: plan.Running},
		},
		Usage: engine.Usage{ModelCalls: 4, ToolCalls: 2, Tokens: model.Tokens{Input: 1200, Output: 34}, CostUSD: 0.0012},
		Interrupts: []interrupt.Question{{
			Path: "step.s3/tool.0.approval", Kind: interrupt.Approval, Tool: "send", Args: json.RawMessage(`{"to":"x"}`), Question: "May it?",
		}},
		Warnings: []string{"a reply was mended"},
	}
}

func TestReportShowsTheStateOfARun(t *testing.T) {
	r := sink.Report{
		Result: halfDone(), Question: "What is\n6 * 7?", Now: startTime.Add(3 * time.Minute), Columns: 100,
		HowTo: func(q interrupt.Question) []string { return []string{"answer " + q.Path, "or not"} },
	}
	want := `run r-1  demo 2
interrupted: waiting for an answer
started 2026-01-02T15:04:05Z (3m ago), 2.5s of work
4 model calls, 2 tool calls, 1.2k tokens, $0.0012

Question
  What is
  6 * 7?

Plan v2
  ✓ s1 Multiply  (2 attempts · 1.5s)
      ✓ calculator 6 * 7 → {"value":42}
      ✗ pencil error → there is no pencil
      It is 42.
      Surely.
  ◐ s3 Send it  (not finished)
  ○ s4 Rest
  ✗ s2 Dropped  (failed)
      nothing to write with

Waiting for an answer
  step.s3/tool.0.approval  approval send
    {"to":"x"}
    May it?
    answer step.s3/tool.0.approval
    or not
warning: a reply was mended
`
	if diff := cmp.Diff(want, r.String()); diff != "" {
		t.Error(diff)
	}
}

func TestReportShowsMessages(t *testing.T) {
	res := &engine.Result{RunID: "r-1", Status: stop.RunInterrupted, StartedAt: startTime, Messages: []engine.UserMessage{
		{ID: "a", Text: "Use the 2025 figures.\n\x1b[2J", By: &engine.Actor{User: "ann", Host: "desk"}, At: startTime, Seen: true},
		{ID: "b", Text: "Skip step 3.", At: startTime},
	}}
	want := `
Messages
  Use the 2025 figures.
  ␛[2J
    by ann@desk, 2026-01-02T15:04:05Z
  Skip step 3.
    by an unknown person, 2026-01-02T15:04:05Z, not seen by a model`
	r := sink.Report{Result: res, Now: startTime, Columns: 80}
	if text := r.String(); !strings.Contains(text, want+" yet\n") {
		t.Error(text)
	}
	res.Status = stop.RunCompleted
	if text := r.String(); !strings.Contains(text, want+"\n") {
		t.Error(text)
	}
}

func TestReportShowsTheCompleteAnswer(t *testing.T) {
	long := strings.Repeat("line\n", 30)
	res := &engine.Result{
		RunID: "r-1", Status: stop.RunCompleted, StartedAt: startTime, StopReason: stop.Reason{Code: stop.Answered},
		Response: long, Plan: plan.Plan{Version: 1, Steps: []plan.Step{{ID: "s1", Goal: "one"}}},
		Steps: []plan.StepRecord{{ID: "s1", Goal: "one", Status: plan.OK, Result: long}},
	}
	r := sink.Report{Result: res, Now: startTime, Columns: 80}
	text := r.String()
	if n := strings.Count(text, "\n  line"); n != 30 {
		t.Errorf("%d of 30 lines of the answer:\n%s", n, text)
	}
	if !strings.Contains(text, "      … 18 lines more; -o json has all\n") {
		t.Errorf("the result is not truncated:\n%s", text)
	}
	if strings.Contains(text, "Waiting") || strings.Contains(text, "\x1b") {
		t.Errorf("%q", text)
	}
}

func TestReportOfARunningRunHasNoAnswerCommands(t *testing.T) {
	r := sink.Report{
		Result: halfDone(), Now: startTime, Columns: 80, Running: true, PID: 7, Color: true,
		HowTo: func(interrupt.Question) []string { return []string{"answer it"} },
	}
	text := r.String()
	if !strings.Contains(text, "running (pid 7)") || strings.Contains(text, "answer it") || strings.Contains(text, "not finished") {
		t.Errorf("%s", text)
	}
}

func TestReportEscapesControlSequences(t *testing.T) {
	evil := "a\x1b[2J\u009b1m\r\n\x9b\a"
	res := halfDone()
	res.RunID, res.Spec.Name, res.StopReason.Message, res.Response, res.Warnings = evil, evil, evil, evil, []string{evil}
	res.Plan.Steps = []plan.Step{{ID: evil, Goal: evil}}
	res.Steps = []plan.StepRecord{{ID: evil, Goal: evil, Status: plan.Failed, Error: evil, Result: evil, ToolCalls: []tool.Record{
		{Tool: evil, Args: json.RawMessage(`{"x":"\u001b[2J"}`), Result: evil, Status: tool.CallError},
	}}}
	res.Interrupts = []interrupt.Question{{Path: evil, Kind: interrupt.User, Tool: evil, Question: evil, Args: json.RawMessage(`"` + "\x1b" + `"`)}}
	r := sink.Report{Result: res, Question: evil, Now: startTime, Columns: 60, HowTo: func(interrupt.Question) []string { return []string{evil} }}
	if got := r.String(); got != tty.Safe(got) {
		t.Errorf("%q", got)
	}
}

func TestAgo(t *testing.T) {
	tests := []struct {
		past time.Duration
		want string
	}{
		{-time.Hour, "now"},
		{999 * time.Millisecond, "now"},
		{59 * time.Second, "59s ago"},
		{3*time.Minute + 59*time.Second, "3m ago"},
		{47 * time.Hour, "47h ago"},
		{49 * time.Hour, "2d ago"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			if got := text.Ago(tt.past); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
