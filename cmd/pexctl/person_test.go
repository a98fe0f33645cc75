package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/interrupt"
)

func TestQuestionShowsExactlyWhatWouldHappen(t *testing.T) {
	evil := "a\x1b[2J\u009b"
	cases := []struct {
		name string
		q    interrupt.Question
		want []string
	}{
		{
			"a tool call",
			interrupt.Question{Kind: interrupt.Approval, Question: "May it?", Tool: "write_file", Args: json.RawMessage(`{"path":"a"}`)},
			[]string{"May it?\n", "  write_file\n", `  {"path":"a"}` + "\n", "[y]es, [n]o"},
		},
		{
			"a plan is a list",
			interrupt.Question{Kind: interrupt.Plan, Args: json.RawMessage(`{"steps":[{"id":"s1","goal":"one\ntwo"}]}`)},
			[]string{"  s1 one\n    two\n", "[y]es"},
		},
		{
			"a plan with tools is shown whole",
			interrupt.Question{Kind: interrupt.Plan, Args: json.RawMessage(`{"steps":[{"id":"s1","goal":"x","tools":["rm"]}]}`)},
			[]string{`"tools":["rm"]`},
		},
		{
			"long arguments take several lines, and the tool of the question is not repeated",
			interrupt.Question{Kind: interrupt.Approval, Question: "May step s1 call write_file?", Tool: "write_file", Args: json.RawMessage(`{"path":"a","content":"` + strings.Repeat("x", 80) + `"}`)},
			[]string{"call write_file?\n  {\n    \"path\": \"a\",\n"},
		},
		{"a question has an answer", interrupt.Question{Kind: interrupt.User, Question: "Which one?"}, []string{"Which one?", "Answer: "}},
		{"hostile text", interrupt.Question{Question: evil, Tool: evil, Args: json.RawMessage(`"` + evil + `"`)}, []string{"␛[2J"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			p := &ui.Person{In: bufio.NewReader(strings.NewReader("deny: no\r\n")), Out: &out, Pause: func(f func()) { f() }}
			answer, err := p.Ask(t.Context(), c.q)
			if err != nil || !bytes.Contains(answer, []byte("no")) || bytes.Contains(answer, []byte(`\r`)) {
				t.Errorf("answer %s, %v", answer, err)
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q does not show %q", out.String(), want)
				}
			}
			if got := out.String(); got != tty.Safe(got) {
				t.Errorf("%q drives the terminal", got)
			}
		})
	}
}

func TestEndOfInputLeavesTheRunWaiting(t *testing.T) {
	p := &ui.Person{In: bufio.NewReader(strings.NewReader("appr")), Out: io.Discard, Pause: func(f func()) { f() }}
	if _, err := p.Ask(t.Context(), interrupt.Question{}); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
}

func TestQuestionEndsWithTheRun(t *testing.T) {
	in, never := io.Pipe()
	defer never.Close()
	p := &ui.Person{In: bufio.NewReader(in), Out: io.Discard, Pause: func(f func()) { f() }}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Ask(ctx, interrupt.Question{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestInvalidAnswersAreAskedAgain(t *testing.T) {
	cases := []struct {
		name  string
		kind  interrupt.Kind
		typed string
		do    string
		shown []string
	}{
		{"nothing typed", interrupt.Approval, "\n  \napprove\n", "approve", []string{"the answer is empty", "[y]es, [n]o, n:REASON, edit:JSON >"}},
		{"a word that is no answer", interrupt.Approval, "ok\ny\n", "approve", []string{`invalid answer "ok"`}},
		{"an edit that is not JSON", interrupt.Approval, "edit:{n: 1}\nedit:{\"n\":1}\n", "edit", []string{"invalid JSON after edit:"}},
		{"a plan", interrupt.Plan, "do it\ndeny: shorter\n", "deny", []string{`invalid answer "do it"`}},
		{"a guard has nothing to edit", interrupt.Guard, "edit:{}\nno\n", "deny", []string{"edit is not possible here", "[y]es, [n]o, n:REASON >"}},
		{"a question takes any text", interrupt.User, "\n", "text", nil},
		{"a control character is not shown raw", interrupt.Guard, "\x1b[2J\ny\n", "approve", []string{"invalid answer"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			p := &ui.Person{In: bufio.NewReader(strings.NewReader(c.typed)), Out: &out, Pause: func(f func()) { f() }}
			answer, err := p.Ask(t.Context(), interrupt.Question{Kind: c.kind, Question: "May it?"})
			var d interrupt.Decision
			if err != nil || json.Unmarshal(answer, &d) != nil || d.Do != c.do {
				t.Errorf("answer %s, %v", answer, err)
			}
			for _, want := range c.shown {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q does not show %q", out.String(), want)
				}
			}
			if got := out.String(); got != tty.Safe(got) {
				t.Errorf("%q drives the terminal", got)
			}
		})
	}
}

func TestNoDecisionLeavesTheRunWaiting(t *testing.T) {
	p := &ui.Person{In: bufio.NewReader(strings.NewReader("maybe\n")), Out: io.Discard, Pause: func(f func()) { f() }}
	if _, err := p.Ask(t.Context(), interrupt.Question{Kind: interrupt.Approval}); !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
}

func TestAnAnswerThatIsNotPermittedIsAskedForAgain(t *testing.T) {
	var out bytes.Buffer
	p := &ui.Person{In: bufio.NewReader(strings.NewReader("y\nn: someone else decides\n")), Out: &out, Pause: func(f func()) { f() }}
	q := interrupt.Question{Kind: interrupt.Approval, Question: "May it?"}.Restrict(interrupt.Rule{FourEyes: true})
	q.Permits = func(by interrupt.Actor, do string) error {
		if do == "deny" && by.IsZero() {
			return nil
		}
		return &interrupt.NotApproverError{Path: "a", Reason: "four_eyes: ann started the run"}
	}
	answer, err := p.Ask(t.Context(), q)
	var d interrupt.Decision
	if err != nil || json.Unmarshal(answer, &d) != nil || d.Do != "deny" {
		t.Errorf("answer %s, %v", answer, err)
	}
	for _, want := range []string{"\n  four_eyes: true\n", "  four_eyes: ann started the run\n[y]es"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q does not show %q", out.String(), want)
		}
	}
}
