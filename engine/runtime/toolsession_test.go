package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/engine/tool"
)

// questionTool is a tool that asks questions during its call and returns the answers.
type questionTool struct {
	funcTool
	calls atomic.Int32
}

func newQuestionTool(effect tool.Effect, question func(call, n int) (interrupt.Question, bool)) *questionTool {
	t := &questionTool{}
	t.funcTool = funcTool{effect, func(ctx context.Context, c *tool.Call) (*tool.Output, error) {
		call := int(t.calls.Add(1))
		var got []string
		for n := 1; ; n++ {
			q, more := question(call, n)
			if !more {
				return &tool.Output{Text: strings.Join(got, ", ")}, nil
			}
			d, err := c.Ask(ctx, q)
			if err != nil {
				return nil, fmt.Errorf("question %d: %w", n, err)
			}
			got = append(got, d.Answer())
		}
	}}
	return t
}

// fixedQuestions returns the same questions in every call.
func fixedQuestions(all ...string) func(int, int) (interrupt.Question, bool) {
	return func(_, n int) (interrupt.Question, bool) {
		if n > len(all) {
			return interrupt.Question{}, false
		}
		return interrupt.Question{Question: all[n-1], Args: json.RawMessage("{ \"n\": " + fmt.Sprint(n) + ", \"a\": \"<b>\" }")}, true
	}
}

func TestQuestionsDuringACall(t *testing.T) {
	changing := func(call, _ int) (interrupt.Question, bool) {
		return interrupt.Question{Question: fmt.Sprintf("It is %d o'clock?", call)}, true
	}
	onceChanged := func(call, n int) (interrupt.Question, bool) {
		if call == 1 {
			return interrupt.Question{Question: "Old?"}, true
		}
		return interrupt.Question{Question: "New?"}, n == 1
	}
	otherKind := func(call, n int) (interrupt.Question, bool) {
		if call == 1 {
			return interrupt.Question{Question: "Delete all?"}, true
		}
		return interrupt.Question{Kind: interrupt.Approval, Question: "Delete all?"}, n == 1
	}
	endless := func(_, n int) (interrupt.Question, bool) {
		return interrupt.Question{Question: fmt.Sprintf("And %d?", n)}, true
	}
	many := make([]string, 30)
	for i := range many {
		many[i] = fmt.Sprint("a", i)
	}
	cases := []struct {
		name     string
		effect   tool.Effect
		question func(int, int) (interrupt.Question, bool)
		typed    []string
		calls    int32
		asked    string // paths of the questions
		status   tool.CallStatus
		text     string
	}{
		{"one, of a tool that reads", tool.ReadEffect, fixedQuestions("Which?"), many[:1], 2, "tool.0.ask", tool.CallOK, "a0"},
		{"two", tool.IdempotentEffect, fixedQuestions("Which?", "Why?"), many[:2], 3, "tool.0.ask tool.0.ask.2", tool.CallOK, "a0, a1"},
		{"the same twice", tool.ReadEffect, fixedQuestions("Sure?", "Sure?"), many[:2], 3, "tool.0.ask tool.0.ask.2", tool.CallOK, "a0, a1"},
		{"a different question in the second call", tool.ReadEffect, onceChanged, many[:2], 3, "tool.0.ask tool.0.ask.2", tool.CallOK, "a1"},
		{"the same text of another kind", tool.ReadEffect, otherKind, many[:2], 3, "tool.0.ask tool.0.ask.2", tool.CallOK, "a1"},
		{"a different question in each call", tool.ReadEffect, changing, many, 4, "tool.0.ask tool.0.ask.2 tool.0.ask.3", tool.CallError, "the tool asks different questions each time"},
		{"without end", tool.ReadEffect, endless, many, 21, "", tool.CallError, "the tool asked 20 questions in one call, which is the maximum"},
		{"of a tool that writes: it waits", tool.WriteEffect, fixedQuestions("Which?", "Why?"), many[:2], 1, "tool.0 tool.0", tool.CallOK, "a0, a1"},
		{"without end, of a tool that writes", tool.WriteEffect, endless, many, 1, "", tool.CallError, "question 21: no one is available to answer: a call may ask 20 questions"},
		{"of a tool that writes, without a responder", tool.WriteEffect, fixedQuestions("Which?"), nil, 1, "", tool.CallError, "question 1: no one is available to answer"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			one, people, recs := newQuestionTool(c.effect, c.question), &answers{typed: c.typed}, []tool.Record{}
			p := program(map[string]nodeFunc{"a": callTool("x", 1, false, &recs)})
			h := engine.Host{Tools: []tool.Binding{named("x", one)}, Responder: people}
			res := session(t, p, h, &journal.Memory{RoundTrip: true}, runtime.Options{})
			if res.Status != stop.RunCompleted {
				t.Fatalf("%+v", res.StopReason)
			}
			if recs[0].Status != c.status || !strings.HasPrefix(recs[0].Text(), c.text) || one.calls.Load() != c.calls {
				t.Errorf("%s after %d calls: %s", recs[0].Status, one.calls.Load(), recs[0].Text())
			}
			if paths := strings.Join(people.paths(), " "); c.asked != "" && paths != c.asked {
				t.Errorf("asked at %s", paths)
			}
		})
	}
}

// TestOpenQuestionIsJournaled ends the session at a question and continues with the answer
// in another one. Events of the question and the call are sent once.
func TestOpenQuestionIsJournaled(t *testing.T) {
	one, recs, j, events := newQuestionTool(tool.ReadEffect, fixedQuestions("Which?", "Why?")), []tool.Record{}, &journal.Memory{RoundTrip: true}, &eventLog{}
	p := program(map[string]nodeFunc{"a": callTool("x", 1, false, &recs)})
	h := engine.Host{Tools: []tool.Binding{named("x", one)}, Sinks: []engine.Sink{events}}
	res := session(t, p, h, j, runtime.Options{})
	want := []interrupt.Question{{Path: "tool.0.ask", Kind: interrupt.Elicitation, Tool: "x", Args: json.RawMessage(`{"n":1,"a":"<b>"}`), Question: "Which?"}}
	if diff := cmp.Diff(want, res.Interrupts, cmp.Transformer("text", func(r json.RawMessage) any { return jsonvalue.Plain(r) })); diff != "" || res.Status != stop.RunInterrupted {
		t.Fatalf("%+v: %s", res.StopReason, diff)
	}
	res = session(t, p, h, j, runtime.Options{Answers: map[string]json.RawMessage{"tool.0.ask": encodeAnswer(t, "this")}})
	if len(res.Interrupts) != 1 || res.Interrupts[0].Path != "tool.0.ask.2" {
		t.Fatalf("%+v", res.Interrupts)
	}
	res = session(t, p, h, j, runtime.Options{Answers: map[string]json.RawMessage{"tool.0.ask.2": encodeAnswer(t, "so")}})
	if res.Status != stop.RunCompleted || recs[0].Text() != "this, so" || one.calls.Load() != 3 || res.Usage.ToolCalls != 1 {
		t.Fatalf("%+v: %q after %d calls", res.StopReason, recs[0].Text(), one.calls.Load())
	}
	if n := len(events.of(engine.InterruptRaised)); n != 2 {
		t.Errorf("%d question events", n)
	}
	if a, b := events.of(engine.ToolStarted), events.of(engine.ToolCompleted); len(a) != 1 || len(b) != 1 || b[0].Text != "this, so" {
		t.Errorf("events: started %v, completed %v", a, b)
	}
	before := len(j.Records)
	if session(t, p, h, j, runtime.Options{}); recs[0].Text() != "this, so" || len(j.Records) != before || one.calls.Load() != 3 {
		t.Errorf("replay: %q, %d more records", recs[0].Text(), len(j.Records)-before)
	}
}

// TestCallWithQuestionsSurvivesACrashAnywhere crashes after each record. The result is the
// same, and no question is asked twice.
func TestCallWithQuestionsSurvivesACrashAnywhere(t *testing.T) {
	recs, j := []tool.Record{}, &journal.Memory{RoundTrip: true}
	one := newQuestionTool(tool.ReadEffect, fixedQuestions("Which?", "Why?"))
	p := program(map[string]nodeFunc{"a": callTool("x", 2, true, &recs)})
	host := func(typed ...string) (engine.Host, *answers) {
		a := &answers{typed: typed}
		return engine.Host{Tools: []tool.Binding{named("x", one)}, Responder: a}, a
	}
	h, _ := host("a", "a", "a", "a")
	session(t, p, h, j, runtime.Options{})
	whole := j.Records
	for cut := 1; cut <= len(whole); cut++ {
		answered := 0
		for _, r := range whole[:cut] {
			if r.Kind == journal.Result && strings.Contains(r.Path, ".ask") {
				answered++
			}
		}
		h, people := host("a", "a", "a", "a")
		res := session(t, p, h, &journal.Memory{RoundTrip: true, Records: whole[:cut:cut]}, runtime.Options{})
		if res.Status != stop.RunCompleted || recs[0].Text() != "a, a" || recs[1].Text() != "a, a" || len(people.asked) != 4-answered {
			t.Errorf("cut after %d: %+v %q %q, asked %d times", cut, res.StopReason, recs[0].Text(), recs[1].Text(), len(people.asked))
		}
	}
}

func TestCancelledRunAsksNoQuestions(t *testing.T) {
	one, recs, j := newQuestionTool(tool.ReadEffect, fixedQuestions("Which?")), []tool.Record{}, &journal.Memory{}
	p := program(map[string]nodeFunc{"a": callTool("x", 1, false, &recs)})
	h := engine.Host{Tools: []tool.Binding{named("x", one)}}
	if res := session(t, p, h, j, runtime.Options{}); len(res.Interrupts) != 1 {
		t.Fatalf("%+v", res.StopReason)
	}
	cancel := make(chan struct{})
	close(cancel)
	if res := session(t, p, h, j, runtime.Options{Cancel: cancel}); res.Status != stop.RunCancelled || one.calls.Load() != 1 {
		t.Errorf("%+v after %d calls", res.StopReason, one.calls.Load())
	}
}

// slowResponder answers after a wait.
type slowResponder struct{ wait time.Duration }

func (p slowResponder) Ask(ctx context.Context, _ interrupt.Question) (json.RawMessage, error) {
	select {
	case <-time.After(p.wait):
		return json.Marshal(interrupt.Decision{Do: "text", Text: "late"})
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestTimeoutExcludesWaitingForHumans(t *testing.T) {
	const timeout = time.Minute
	works := func(ctx context.Context, c *tool.Call) (*tool.Output, error) {
		for range 2 {
			if _, err := c.Ask(ctx, interrupt.Question{Question: "Which?"}); err != nil {
				return nil, err
			}
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(timeout / 25): // its own work
			}
		}
		return &tool.Output{Text: "done"}, nil
	}
	hangs := func(ctx context.Context, c *tool.Call) (*tool.Output, error) {
		if _, err := c.Ask(ctx, interrupt.Question{Question: "Which?"}); err != nil {
			return nil, err
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	cases := []struct {
		name   string
		tool   tool.Tool
		status tool.CallStatus
		text   string
	}{
		{"it ends in time", funcTool{tool.WriteEffect, works}, tool.CallOK, "done"},
		{"the tool itself takes too long", funcTool{tool.WriteEffect, hangs}, tool.CallUnknown, "The outcome of this call is unknown; it may have taken effect: the tool timed out after 1m0s"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var recs []tool.Record
				bound := named("x", c.tool)
				bound.Spec.Timeout, bound.Spec.OnUnknown = timeout, tool.ContinueUnknown
				res := session(t, program(map[string]nodeFunc{"a": callTool("x", 1, false, &recs)}),
					engine.Host{Tools: []tool.Binding{bound}, Responder: slowResponder{2 * timeout}}, &journal.Memory{}, runtime.Options{})
				if res.Status != stop.RunCompleted || recs[0].Status != c.status || !strings.HasPrefix(recs[0].Text(), c.text) {
					t.Errorf("%+v: %s %s", res.StopReason, recs[0].Status, recs[0].Text())
				}
			})
		})
	}
}

// TestToolCannotAskAfterItsCall checks that Ask fails after the call has ended.
func TestToolCannotAskAfterItsCall(t *testing.T) {
	for _, effect := range []tool.Effect{tool.ReadEffect, tool.WriteEffect} {
		var ask func(context.Context, interrupt.Question) (interrupt.Decision, error)
		one := funcTool{effect, func(_ context.Context, c *tool.Call) (*tool.Output, error) {
			ask = c.Ask
			return &tool.Output{Text: "done"}, nil
		}}
		var recs []tool.Record
		people := &answers{typed: []string{"yes"}}
		session(t, program(map[string]nodeFunc{"a": callTool("x", 1, false, &recs)}), engine.Host{Tools: []tool.Binding{named("x", one)}, Responder: people}, &journal.Memory{}, runtime.Options{})
		if _, err := ask(t.Context(), interrupt.Question{Question: "Now?"}); err == nil || errors.Is(err, tool.ErrQuestionAsked) || len(people.asked) > 0 || recs[0].Text() != "done" {
			t.Errorf("%s: %v, asked %v", effect, err, people.asked)
		}
	}
}

func TestToolCannotAskAfterAnUnansweredQuestion(t *testing.T) {
	var second error
	one := funcTool{tool.ReadEffect, func(ctx context.Context, c *tool.Call) (*tool.Output, error) {
		d, err := c.Ask(ctx, interrupt.Question{Question: "One?"})
		if err == nil {
			return &tool.Output{Text: d.Answer()}, nil
		}
		_, second = c.Ask(context.WithoutCancel(ctx), interrupt.Question{Question: "Two?"})
		return &tool.Output{Text: "a premature result"}, ctx.Err()
	}}
	var recs []tool.Record
	people := &answers{typed: []string{"first", "second"}}
	session(t, program(map[string]nodeFunc{"a": callTool("x", 1, false, &recs)}), engine.Host{Tools: []tool.Binding{named("x", one)}, Responder: people}, &journal.Memory{}, runtime.Options{})
	if !errors.Is(second, tool.ErrQuestionAsked) || len(people.asked) != 1 || recs[0].Text() != "first" {
		t.Errorf("%v, asked %v: %s", second, people.asked, recs[0].Text())
	}
}

func TestQuestionsAreRedacted(t *testing.T) {
	one := newQuestionTool(tool.ReadEffect, func(_, n int) (interrupt.Question, bool) {
		return interrupt.Question{Question: "Is it hunter2-hunter2?", Args: json.RawMessage(`{"key":"hunter2-hunter2"}`)}, n == 1
	})
	var recs []tool.Record
	j := &journal.Memory{RoundTrip: true}
	h := engine.Host{Tools: []tool.Binding{named("x", one)}, Secrets: secret.New(map[string]string{"KEY": "hunter2-hunter2"})}
	p := program(map[string]nodeFunc{"a": callTool("x", 1, false, &recs)})
	res := session(t, p, h, j, runtime.Options{})
	if len(res.Interrupts) != 1 || strings.Contains(res.Interrupts[0].Question+string(res.Interrupts[0].Args), "hunter2") {
		t.Fatalf("%+v", res.Interrupts)
	}
	res = session(t, p, h, j, runtime.Options{Answers: map[string]json.RawMessage{"tool.0.ask": encodeAnswer(t, "yes")}})
	if res.Status != stop.RunCompleted || recs[0].Text() != "yes" {
		t.Errorf("%+v: %s", res.StopReason, recs[0].Text())
	}
}
