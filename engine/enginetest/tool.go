package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pexctl/pex/engine/tool"
)

const (
	concurrentCalls = 8
	callDeadline    = 20 * time.Second // for a call that should end at once
)

// ToolSuite tests a tool against the contract of tool.Tool. okArgs are arguments, as JSON
// objects, with which calls must succeed, even repeated and concurrent ones. Without
// okArgs only the tool's description and its failures are tested.
func ToolSuite(t *testing.T, tool tool.Tool, okArgs ...string) {
	t.Helper()
	t.Run("info is complete", func(t *testing.T) { toolInfo(t, tool) })
	t.Run("input is a schema of named arguments", func(t *testing.T) { toolInput(t, tool) })
	t.Run("a cancelled call fails at once", func(t *testing.T) { toolCancelled(t, tool, okArgs) })
	t.Run("arguments that do not fit are errors", func(t *testing.T) { toolInvalidArguments(t, tool) })
	t.Run("calls succeed", func(t *testing.T) {
		for _, args := range okArgs {
			toolCall(t, tool, args)
		}
	})
	t.Run("concurrent calls succeed", func(t *testing.T) { toolConcurrent(t, tool, okArgs) })
}

func toolInfo(t *testing.T, one tool.Tool) {
	info := one.Info()
	if info.Name == "" || strings.ContainsAny(info.Name, " \t\r\n") {
		t.Errorf("name %q: want a word without spaces", info.Name)
	}
	if len(info.Description) < 10 || !utf8.ValidString(info.Description) {
		t.Errorf("description %q: want a sentence about when to call the tool", info.Description)
	}
	if all := []tool.Effect{tool.ReadEffect, tool.IdempotentEffect, tool.WriteEffect}; !slices.Contains(all, info.Effect) {
		t.Errorf("effect %q: want one of %v", info.Effect, all)
	}
	if again := one.Info(); again.Name != info.Name || again.Description != info.Description ||
		again.Effect != info.Effect || !bytes.Equal(again.Input, info.Input) {
		t.Errorf("Info changes from call to call:\n%+v\n%+v", info, again)
	}
}

func toolInput(t *testing.T, tool tool.Tool) {
	var s struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if err := json.Unmarshal(tool.Info().Input, &s); err != nil {
		t.Fatalf("input is not a JSON Schema: %v\n%s", err, tool.Info().Input)
	}
	if s.Type != "object" {
		t.Errorf("input has type %q, want object", s.Type)
	}
	for _, name := range s.Required {
		if s.Properties[name] == nil {
			t.Errorf("required argument %q is not among the properties", name)
		}
	}
	for name, raw := range s.Properties {
		var p struct {
			Description string `json:"description"`
		}
		if err := json.Unmarshal(raw, &p); err != nil || p.Description == "" {
			t.Errorf("argument %q has no description: %s", name, raw)
		}
	}
}

func toolCancelled(t *testing.T, one tool.Tool, okArgs []string) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range append([]string{"{}"}, okArgs...) {
		out, err := callWithDeadline(t, func() (*tool.Output, error) { return one.Call(ctx, toolCallOf(args)) })
		if err == nil {
			t.Errorf("%s: a cancelled call returned %+v", args, out)
		} else if args != "{}" && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %q does not wrap the context's", args, err)
		}
	}
}

// toolInvalidArguments passes arguments that no schema allows.
func toolInvalidArguments(t *testing.T, one tool.Tool) {
	hostile := []string{
		"", "{}", "null", "[]", "7", `"text"`, "{", `{"no_such_argument": 1}`,
		`{"\u0000": "\u0000"}`, strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2000),
	}
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	// toolInput reports an unreadable schema.
	_ = json.Unmarshal(one.Info().Input, &s)
	for name := range s.Properties {
		for _, value := range []string{"null", "true", "-1", "1e99", `""`, `"\u0000"`, `"\ud800"`, "[]", "{}", `[{"a":[null]}]`} {
			hostile = append(hostile, fmt.Sprintf(`{%q: %s}`, name, value))
		}
	}
	for _, args := range hostile {
		out, err := callWithDeadline(t, func() (*tool.Output, error) { return one.Call(t.Context(), toolCallOf(args)) })
		if err == nil {
			checkOutput(t, args, out)
		} else if !readable(err.Error()) {
			t.Errorf("%.80s: error %q is not a message for a model", args, err)
		}
	}
}

func toolCall(t *testing.T, one tool.Tool, args string) {
	t.Helper()
	out, err := callWithDeadline(t, func() (*tool.Output, error) { return one.Call(t.Context(), toolCallOf(args)) })
	if err != nil {
		t.Errorf("%s: %v", args, err)
		return
	}
	checkOutput(t, args, out)
}

func toolConcurrent(t *testing.T, tool tool.Tool, okArgs []string) {
	var wg sync.WaitGroup
	for range concurrentCalls {
		for _, args := range okArgs {
			wg.Go(func() { toolCall(t, tool, args) })
		}
	}
	wg.Wait()
}

func toolCallOf(args string) *tool.Call {
	return &tool.Call{Args: json.RawMessage(args), Key: "key", RunID: "run", Path: "step.s1/turn.1/tool.0", Progress: func(string) {}}
}

func checkOutput(t *testing.T, args string, out *tool.Output) {
	t.Helper()
	switch {
	case out == nil:
		t.Errorf("%.80s: neither output nor error", args)
	case !utf8.ValidString(out.Text):
		t.Errorf("%.80s: the text is not valid UTF-8: %q", args, out.Text)
	case len(out.Data) > 0 && !json.Valid(out.Data):
		t.Errorf("%.80s: the data is not JSON: %s", args, out.Data)
	}
}

func readable(message string) bool {
	return message != "" && utf8.ValidString(message) && !strings.Contains(message, "goroutine ")
}

// callWithDeadline makes a call, and fails the test if it does not end.
func callWithDeadline(t *testing.T, call func() (*tool.Output, error)) (*tool.Output, error) {
	t.Helper()
	type result struct {
		out *tool.Output
		err error
	}
	done := make(chan result, 1)
	go func() {
		out, err := call()
		done <- result{out, err}
	}()
	timer := time.NewTimer(callDeadline)
	defer timer.Stop()
	select {
	case r := <-done:
		return r.out, r.err
	case <-timer.C:
		t.Errorf("a call did not end within %s", callDeadline)
		return nil, errors.New("the call did not end")
	}
}
