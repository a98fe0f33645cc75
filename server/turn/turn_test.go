package turn_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/server/turn"
)

// The lines of a run that asks for an approval, which a person denies.
func TestLinesOfARun(t *testing.T) {
	events, err := os.ReadFile("testdata/refund.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var state turn.Turn
	var out strings.Builder
	for line := range bytes.Lines(events) {
		var ev engine.Event
		if err := json.Unmarshal(line, &ev); err != nil {
			t.Fatal(err)
		}
		c, ok := state.Apply(&ev)
		if text := state.Line(c); ok && text != "" {
			fmt.Fprintf(&out, "%s\n", text)
		}
		switch {
		case ok && c.Kind == turn.Asked:
			fmt.Fprintf(&out, "--- prompt\n%s\n---\n", turn.Prompt(state.Open))
		case ev.Seq > 0 && ev.Path == "step.s3/turn.1/tool.0" && len(state.Open) > 0:
			t.Errorf("after %s, %d questions are open", ev.Type, len(state.Open))
		}
	}
	fmt.Fprintf(&out, "--- %s\n%s\n", state.Status, state.Outcome())
	for _, c := range state.Calls {
		fmt.Fprintf(&out, "%s %s %s asked=%v\n", c.ID, c.Tool, c.Status, c.Asked)
	}
	goldentest.File(t, "refund.golden", out.String())
}

func TestOutcomesOfUnfinishedAnswers(t *testing.T) {
	for want, state := range map[string]turn.Turn{
		"done": {Status: stop.RunCompleted, Answer: "done"},
		"partly\n\nThe run stopped: max_steps: 3 steps":     {Status: stop.RunStopped, Answer: "partly", Stop: stop.Reason{Code: stop.MaxSteps, Message: "3 steps"}},
		"The run failed: provider_error: the model is gone": {Status: stop.RunFailed, Stop: stop.Reason{Code: stop.ProviderError, Message: "the model is gone"}},
		"The run was cancelled":                             {Status: stop.RunCancelled, Stop: stop.Reason{Code: stop.Cancelled}},
	} {
		if got := state.Outcome(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestPromptsOfSeveralQuestions(t *testing.T) {
	got := turn.Prompt([]interrupt.Question{
		{Path: "step.s1/turn.1/tool.0.approval", Kind: interrupt.Approval, Tool: "refund", Args: []byte(`{"amount":5}`)},
		{Path: "step.s2/turn.1/tool.0", Kind: interrupt.Human, Question: "Which order?"},
	})
	want := "[step.s1/turn.1/tool.0.approval] Approve the call of refund?\n\n```json\n{\n  \"amount\": 5\n}\n```\n\n" +
		"[step.s2/turn.1/tool.0] Which order?\n\n2 decisions are open. Reply to one with PATH=REPLY, such as step.s1/turn.1/tool.0.approval=approve."
	if got != want {
		t.Errorf("%s", got)
	}
}

func TestWaitsOnceNothingElseIsInProgress(t *testing.T) {
	var state turn.Turn
	apply := func(events ...engine.Event) *turn.Turn {
		for i := range events {
			events[i].Seq = i + 1
			state.Apply(&events[i])
		}
		return &state
	}
	step := func(id string, kind engine.EventType, status plan.Status) engine.Event {
		return engine.Event{Type: kind, Path: "step." + id, Step: &engine.StepEvent{ID: id, Status: status}}
	}
	ask := engine.Event{Type: engine.InterruptRaised, Interrupt: &interrupt.Question{Path: "step.s1/turn.1/tool.0.approval"}}
	if s := apply(step("s1", engine.StepStartedEvent, plan.Running)); s.WaitsFor(s.Open) {
		t.Error("waits without a question")
	}
	if s := apply(step("s2", engine.StepStartedEvent, plan.Running), ask); s.WaitsFor(s.Open) {
		t.Error("waits while s2 is running")
	}
	s := apply(step("s2", engine.StepCompleted, plan.OK))
	if !s.WaitsFor(s.Open) {
		t.Errorf("does not wait: %+v", s)
	}
	if s.WaitsFor(nil) {
		t.Error("waits for a question that was answered")
	}
	calls := engine.Event{Type: engine.ModelCompleted, Path: "step.s1/turn.1/model", Message: &model.Message{Calls: make([]model.ToolCall, 2)}}
	if s := apply(calls); s.WaitsFor(s.Open) {
		t.Error("waits before the second call of the model")
	}
	second := engine.Event{Type: engine.InterruptRaised, Interrupt: &interrupt.Question{Path: "step.s1/turn.1/tool.1.approval"}}
	if s := apply(second); !s.WaitsFor(s.Open) {
		t.Error("does not wait for two answers")
	}
	call := engine.Event{Type: engine.ToolStarted, Path: "step.s1/turn.1/tool.1", Tool: "sleep", Step: &engine.StepEvent{ID: "s1"}}
	if s := apply(call); s.WaitsFor(s.Open) {
		t.Error("waits while a call is in progress")
	}
}
