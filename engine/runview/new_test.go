package runview_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/runview"
)

var began = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

func at(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }

func events() []engine.Event {
	step := &engine.StepEvent{ID: "s1", Goal: "Refund it", Status: plan.OK, Attempts: 1, Result: "done"}
	args, edited := json.RawMessage(`{"amount":80}`), json.RawMessage(`{"amount":10}`)
	call := "step.s1/turn.1/tool.0"
	return []engine.Event{
		{Type: engine.RunStarted, At: at(0)},
		{Type: engine.ModelStarted, At: at(0), Path: "plan.1/model", Model: "main", Role: "planner"},
		{Type: engine.ModelDelta, At: at(5), Path: "plan.1/model", Text: "never shown"},
		{Type: engine.ModelCompleted, At: at(10), Path: "plan.1/model", Model: "main", Role: "planner", Status: "end_turn", Message: &model.Message{Text: model.Text{"a ", "plan"}}, Usage: &model.Tokens{Input: 5, Output: 2}, CostUSD: 0.5},
		{Type: engine.PlanCreated, At: at(10), Path: "plan.1", Plan: &plan.Plan{Version: 1, Steps: []plan.Step{{ID: "s1", Goal: "Refund it"}}}},
		{Type: engine.StepStartedEvent, At: at(10), Path: "step.s1", Step: step},
		{Type: engine.ToolInterrupted, At: at(10), Path: call, Step: step, Tool: "refund", Args: args},
		{Type: engine.InterruptRaised, At: at(10), Path: call + ".approval", Interrupt: &interrupt.Question{Kind: interrupt.Approval, Question: "May it?", Args: args}},
		{Type: engine.ToolStarted, At: at(12), Path: call, Step: step, Tool: "refund", Args: edited},
		{Type: engine.ToolCompleted, At: at(20), Path: call, Step: step, Tool: "refund", Args: edited, Status: "ok", Text: "paid"},
		{Type: engine.GuardFired, At: at(20), Path: "step.s1", Guard: &engine.GuardEvent{Name: "small", Do: engine.GuardStop, Message: "enough"}},
		{Type: engine.StepCompleted, At: at(25), Path: "step.s1", Step: step},
		{Type: engine.ModelStarted, At: at(25), Path: "reflect.1/model", Model: "main", Role: "reflector"},
	}
}

func result() *engine.Result {
	return &engine.Result{RunID: "r-1", StartedAt: began, Decisions: []engine.DecisionRecord{{
		Path: "step.s1/turn.1/tool.0.approval", Kind: "approval", Args: json.RawMessage(`{"amount":80}`), Do: "edit", Edit: json.RawMessage(`{"amount":10}`),
	}}}
}

func view(t *testing.T, s runview.Source) *runview.View {
	t.Helper()
	var c runview.Collector
	for _, ev := range s.Events {
		c.Send(ev)
	}
	s.Events = c.Events
	v, err := runview.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestEventsBecomeGroupsOfCalls(t *testing.T) {
	v := view(t, runview.Source{Result: result(), Events: events()})
	decision := &v.Decisions[0]
	want := []runview.Group{
		{Path: "plan.1", Role: "planner", ToMS: 10, Tokens: 7, Usage: model.Tokens{Input: 5, Output: 2}, CostUSD: 0.5, ModelCalls: 1, Items: []runview.Item{
			{ID: "c1", Kind: runview.ModelItem, Path: "plan.1/model", Name: "main", Role: "planner", Status: "end_turn", ToMS: 10, Done: true, Text: "a plan", Tokens: model.Tokens{Input: 5, Output: 2}, CostUSD: 0.5},
			{ID: "c2", Kind: runview.PlanItem, Path: "plan.1", Name: "plan v1", FromMS: 10, ToMS: 10, Done: true, Steps: []engine.StepEvent{{ID: "s1", Goal: "Refund it"}}},
		}},
		{Path: "step.s1", Step: "s1", Goal: "Refund it", Status: "ok", Attempts: 1, Result: "done", FromMS: 10, ToMS: 25, ToolCalls: 1, Items: []runview.Item{
			{
				ID: "c4", Kind: runview.QuestionItem, Path: "step.s1/turn.1/tool.0.approval", Name: "approval", Status: "edit", FromMS: 10, ToMS: 10, Done: true,
				Text: "May it?", Args: json.RawMessage(`{"amount":80}`), Decision: decision,
			},
			{
				ID: "c3", Kind: runview.ToolItem, Path: "step.s1/turn.1/tool.0", Name: "refund", Status: "ok", FromMS: 12, ToMS: 20, Done: true, Text: "paid",
				Args: json.RawMessage(`{"amount":10}`), Original: json.RawMessage(`{"amount":80}`),
			},
			{ID: "c5", Kind: runview.GuardItem, Path: "step.s1", Name: "small", Status: "stop", FromMS: 20, ToMS: 20, Done: true, Text: "enough"},
		}},
		{Path: "reflect.1", Role: "reflector", FromMS: 25, ToMS: 25, Items: []runview.Item{
			{ID: "c6", Kind: runview.ModelItem, Path: "reflect.1/model", Name: "main", Role: "reflector", FromMS: 25, ToMS: 25}, // no reply yet
		}},
	}
	if d := cmp.Diff(want, v.Groups); d != "" {
		t.Error(d)
	}
}

func TestCallsBeyondTheMaximumAreCounted(t *testing.T) {
	var many []engine.Event
	for i := range runview.MaxCalls + 7 {
		many = append(many, engine.Event{Type: engine.ToolStarted, At: at(i), Path: fmt.Sprintf("step.s1/turn.%d/tool.0", i), Tool: "clock"})
	}
	v := view(t, runview.Source{Result: result(), Events: many})
	if n := len(v.Groups[0].Items); n != runview.MaxCalls || v.Omitted.Calls != 7 {
		t.Errorf("%d items, %d left out", n, v.Omitted.Calls)
	}
}

// A failed call shows the kind of its error and the message, and counts neither as a reply nor
// as a call.
func TestFailedModelCall(t *testing.T) {
	v := view(t, runview.Source{Result: result(), Events: []engine.Event{
		{Type: engine.ModelStarted, At: at(0), Path: "plan.1/model", Model: "main", Role: "planner"},
		{Type: engine.ModelCompleted, At: at(9), Path: "plan.1/model", Model: "main", Role: "planner", Status: engine.StatusFailed, Error: &engine.CallError{Kind: model.Overloaded, Message: "try later"}},
	}})
	g := v.Groups[0]
	if it := g.Items[0]; !it.Done || !it.Failed || it.Status != "overloaded" || it.Text != "try later" || it.DurationMS() != 9 || g.ModelCalls != 0 {
		t.Errorf("%+v %d", it, g.ModelCalls)
	}
}

// Groups sum what their model calls took.
func TestCycleMetrics(t *testing.T) {
	call := func(path string, ev engine.Event) []engine.Event {
		ev.Type, ev.At, ev.Path, ev.Role, ev.Message = engine.ModelCompleted, at(9), path, "planner", &model.Message{}
		return []engine.Event{{Type: engine.ModelStarted, At: at(0), Path: path, Role: "planner"}, ev}
	}
	v := view(t, runview.Source{Result: result(), Events: append(
		call("plan.1/model", engine.Event{Usage: &model.Tokens{Input: 10, Output: 2, Cached: 6}, Duration: 90, Latency: 70, FirstToken: 30}),
		call("plan.1/model.2", engine.Event{Usage: &model.Tokens{Input: 20, Output: 3, CacheWrite: 4, Reasoning: 1}, Duration: 50, FirstToken: 20})...,
	)})
	g := v.Groups[0]
	if want := (model.Tokens{Input: 30, Output: 5, Cached: 6, CacheWrite: 4, Reasoning: 1}); g.Usage != want || g.LatencyMS != 120 || g.FirstTokenMS != 30 {
		t.Errorf("%+v %d %d", g.Usage, g.LatencyMS, g.FirstTokenMS)
	}
	if it := g.Items[1]; it.LatencyMS != 50 || it.FirstTokenMS != 20 {
		t.Errorf("%+v", it)
	}
}
