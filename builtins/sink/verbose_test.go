package sink_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/builtins/sink"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
)

func TestVerboseLinesAddStartsFiguresAndDecisions(t *testing.T) {
	var b bytes.Buffer
	c := &clock{startTime}
	s := story{sink.NewVerbose(&b, c.now)}
	c.at = c.at.Add(1500 * time.Millisecond)
	s.start("?")
	s.send(engine.Event{Type: engine.ModelStarted, Path: "p", Role: "planner", Model: "main"})
	s.send(engine.Event{Type: engine.ModelRetrying, Path: "p", Model: "main", Retry: &model.RetryEvent{Attempt: 2, MaxAttempts: 3, Wait: 1000, Error: "overloaded"}})
	s.send(engine.Event{
		Type: engine.ModelCompleted, Path: "p", Role: "planner", Model: "main", Duration: 1200, FirstToken: 300, CostUSD: 0.0012,
		Usage: &model.Tokens{Input: 512, Output: 34}, Message: &model.Message{Calls: []model.ToolCall{{}}},
	})
	s.send(engine.Event{
		Type: engine.ModelCompleted, Path: "p", Role: "planner", Model: "main", Duration: 1200, Status: engine.StatusFailed,
		Error: &engine.CallError{Kind: model.ServerError, Message: "it\ncrashed"},
	})
	s.plan(1, "one")
	s.step("s1", "one")
	s.tool("s1", "look", `{"at":"b"}`)
	s.send(engine.Event{Type: engine.ReflectCompleted, By: "reflector"})
	s.send(engine.Event{Type: engine.ReflectCompleted, By: "reflector", Text: "It is 42."})
	want := `   1.500s  run r-1: ?
   1.500s    planner calls llm main
   1.500s  llm main: retrying 2/3 in 1.0s: overloaded
   1.500s    planner: llm main replied (1.2s, first token after 300ms, 512 tokens in, 34 out, $0.0012, 1 tool call)
   1.500s    planner: llm main failed after 1.2s: server_error: it crashed
   1.500s  plan v1: 1 step to do
   1.500s    s1 one
   1.500s  s1 started: one
   1.500s    s1 calls look b
   1.500s  reflector: no answer yet
   1.500s  reflector: answered: It is 42.
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}
