package sink_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
)

var startTime = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

// story sends the events of a run.
type story struct {
	to engine.Sink
}

func (s story) send(ev engine.Event) {
	ev.V, ev.Run, ev.At = engine.EventVersion, "r-1", startTime
	s.to.Send(ev)
}

func (s story) start(question string) {
	s.send(engine.Event{Type: engine.RunStarted, Spec: &engine.SpecInfo{Name: "demo"}, Question: question})
}

func (s story) plan(version int, goals ...string) {
	p := plan.Plan{Version: version}
	for i, g := range goals {
		p.Steps = append(p.Steps, plan.Step{ID: fmt.Sprint("s", i+1), Goal: g})
	}
	s.send(engine.Event{Type: engine.PlanCreated, By: "planner", Plan: &p})
}

func (s story) step(id, goal string) {
	s.send(engine.Event{Type: engine.StepStartedEvent, Step: &engine.StepEvent{ID: id, Goal: goal, Status: plan.Running, Attempts: 1}})
}

func (s story) stepDone(id string, status plan.Status, result, why string) {
	s.send(engine.Event{
		Type: engine.StepCompleted, Duration: 1500,
		Step: &engine.StepEvent{ID: id, Status: status, Attempts: 1, Result: result, Error: why},
	})
}

func (s story) asks(path, role, step string) {
	s.send(engine.Event{Type: engine.ModelStarted, Path: path, Role: role, Step: stepOf(step)})
}

func (s story) says(path, text string) {
	s.send(engine.Event{Type: engine.ModelDelta, Path: path, Text: text})
}

func (s story) answered(path, step string, tokens int) {
	s.send(engine.Event{Type: engine.ModelCompleted, Path: path, Step: stepOf(step), Usage: &model.Tokens{Input: tokens}})
}

func (s story) tool(step, name, args string) {
	s.send(engine.Event{Type: engine.ToolStarted, Path: step + "/" + name, Step: stepOf(step), Tool: name, Args: json.RawMessage(args)})
}

func (s story) toolDone(step, name, args, status, text string) {
	s.send(engine.Event{
		Type: engine.ToolCompleted, Path: step + "/" + name, Step: stepOf(step), Tool: name, Args: json.RawMessage(args),
		Status: status, Text: text, Duration: 12,
	})
}

func (s story) end(status stop.RunStatus, code stop.Code) {
	s.send(engine.Event{
		Type: engine.RunCompleted, Status: string(status), Stop: &stop.Reason{Code: code}, Duration: 2500,
		Totals: &engine.Usage{ModelCalls: 4, ToolCalls: 1, Tokens: model.Tokens{Input: 1200, Output: 34}, CostUSD: 0.0012},
	})
}

func stepOf(id string) *engine.StepEvent {
	if id == "" {
		return nil
	}
	return &engine.StepEvent{ID: id, Status: plan.Running}
}

// whole sends a run with all kinds of events.
func (s story) whole() {
	s.start("What is\n6 * 7?")
	s.asks("plan.1/model", "planner", "")
	s.answered("plan.1/model", "", 500)
	s.plan(1, "Multiply", "Write it down")
	s.step("s1", "Multiply")
	s.asks("s1/1", "executor", "s1")
	s.answered("s1/1", "s1", 300)
	s.tool("s1", "calculator", `{"expression":"6 \u003c 7 \u0026 x"}`)
	s.toolDone("s1", "calculator", `{"expression":"6 \u003c 7 \u0026 x"}`, "ok", "42")
	s.stepDone("s1", plan.OK, "It is 42.", "")
	s.step("s2", "Write it down")
	s.toolDone("s2", "pencil", `{"text":"a b","n":2,"page":"top"}`, "error", "unknown tool \"pencil\"")
	s.send(engine.Event{Type: engine.Warning, Text: "a reply was mended"})
	s.stepDone("s2", plan.Failed, "", "nothing to write with")
	s.send(engine.Event{Type: engine.GuardFired, Guard: &engine.GuardEvent{Name: "enough", Do: engine.GuardAction("stop"), Message: "that will do"}})
	s.send(engine.Event{Type: engine.LimitReached, Stop: &stop.Reason{Code: stop.MaxSteps, Message: "2 of 2 steps are done", Path: "limits.max_steps"}})
	s.end(stop.RunStopped, stop.MaxSteps)
}
