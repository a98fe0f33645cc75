package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/providers/mcp"
)

// responder answers questions with decisions, in order.
type responder struct {
	mu        sync.Mutex
	questions []interrupt.Question
	answers   []interrupt.Decision
	err       error
}

func (p *responder) ask(_ context.Context, q interrupt.Question) (interrupt.Decision, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.questions = append(p.questions, q)
	if p.err != nil || len(p.answers) == 0 {
		return interrupt.Decision{}, p.err
	}
	d := p.answers[0]
	p.answers = p.answers[1:]
	return d, nil
}

func decisions(answers ...string) []interrupt.Decision {
	out := make([]interrupt.Decision, len(answers))
	for i, a := range answers {
		out[i] = interrupt.Parse(a)
	}
	return out
}

func TestHumanAnswersDuringCall(t *testing.T) {
	tests := []struct {
		name, about string
		answers     []string
		want        string
		again       string // expected in the repeated question
	}{
		{"edit", "x", []string{`edit:{"name":"Ada","age":36}`}, `accept {"age":36,"name":"Ada"}`, ""},
		{"defaults are filled in", "x", []string{`edit:{"name":"Ada"}`}, `accept {"age":30,"name":"Ada"}`, ""},
		{"deny", "x", []string{"deny:no time"}, "decline null", ""},
		{"approve takes the defaults", "defaults", []string{"approve"}, `accept {"age":30}`, ""},
		{"text for the only field", "defaults", []string{"41"}, `accept {"age":41}`, ""},
		{"text of the wrong type", "defaults", []string{"old", "41"}, `accept {"age":41}`, "age must be a whole number"},
		{"approve without a required field", "x", []string{"approve", `edit:{"name":"Ada"}`}, `accept {"age":30,"name":"Ada"}`, "name is required"},
		{"too short", "x", []string{`edit:{"name":"A"}`, `edit:{"name":"Al"}`}, `accept {"age":30,"name":"Al"}`, "at least 2 characters"},
		{"unknown value", "x", []string{`edit:{"nam":"A"}`, "no"}, "decline null", "unknown field nam"},
		{"a page to open", "https://sign.example/in", []string{"approve"}, "accept null", ""},
		{"a page that is not opened", "https://sign.example/in", []string{"later", "deny"}, "decline null", "answer approve when you are done"},
	}
	for _, tr := range transports {
		set := tr.make(t, nil)
		for _, tt := range tests {
			t.Run(tr.name+" "+tt.name, func(t *testing.T) {
				p := &responder{answers: decisions(tt.answers...)}
				out, err := callWithAsk(find(t, set, "ask"), tt.about, p.ask)
				if err != nil {
					t.Fatal(err)
				}
				if out.Text != tt.want {
					t.Errorf("got %s, want %s", out.Text, tt.want)
				}
				last := p.questions[len(p.questions)-1]
				if last.Kind != interrupt.Elicitation || !strings.Contains(last.Question, tt.again) || len(p.questions) != len(tt.answers) {
					t.Errorf("asked %d times, last %+v", len(p.questions), last)
				}
			})
		}
	}
}

func callWithAsk(t tool.Tool, about string, ask func(context.Context, interrupt.Question) (interrupt.Decision, error)) (*tool.Output, error) {
	args, _ := json.Marshal(map[string]string{"text": about})
	return t.Call(context.Background(), &tool.Call{Args: args, Ask: ask, Progress: func(string) {}})
}

func TestQuestionContainsTheForm(t *testing.T) {
	p := &responder{answers: decisions("deny")}
	if _, err := callWithAsk(find(t, child(t, "plain", nil), "ask"), "you", p.ask); err != nil {
		t.Fatal(err)
	}
	q := p.questions[0]
	if q.Question != "Who is it, you?" || !strings.Contains(string(q.Args), `"name"`) {
		t.Errorf("question %+v", q)
	}
}

func TestUnansweredQuestionIsCanceled(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			p := &responder{err: tool.ErrNoResponder}
			out, err := callWithAsk(find(t, tr.make(t, nil), "ask"), "x", p.ask)
			if err != nil || out.Text != "cancel null" {
				t.Errorf("output %v, error %v", out, err)
			}
		})
	}
}

// A question for a later answer ends the call immediately.
func TestAskingEndsTheCall(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(context.Background())
			one := find(t, tr.make(t, nil), "ask")
			_, err := one.Call(ctx, &tool.Call{
				Args: json.RawMessage(`{"text":"x"}`),
				Ask: func(context.Context, interrupt.Question) (interrupt.Decision, error) {
					cancel(tool.ErrQuestionAsked)
					return interrupt.Decision{}, tool.ErrQuestionAsked
				},
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestDisabledElicitationIsNotOffered(t *testing.T) {
	set := child(t, "plain", func(c *mcp.Config, _ *tool.Settings) { c.Elicitation = false })
	p := &responder{answers: decisions("approve")}
	_, err := callWithAsk(find(t, set, "ask"), "defaults", p.ask)
	if err == nil || len(p.questions) > 0 {
		t.Errorf("error %v, asked %v", err, p.questions)
	}
}

// Each of several concurrent calls gets its own answer. If the server does not say which call asks, the first questions
// are canceled and later calls run one at a time.
func TestConcurrentCallsAsk(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			tool := find(t, tr.make(t, nil), "ask")
			for round := range 2 {
				var all sync.WaitGroup
				for _, name := range []string{"Ada", "Bob", "Eve"} {
					all.Go(func() {
						p := &responder{answers: decisions(`edit:{"name":"` + name + `"}`)}
						out, err := callWithAsk(tool, name, p.ask)
						own := err == nil && out.Text == `accept {"age":30,"name":"`+name+`"}`
						if unclear := round == 0 && tr.name == "http" && err == nil && out.Text == "cancel null"; !own && !unclear {
							t.Errorf("round %d: %s got %v, %v", round, name, out, err)
						}
					})
				}
				all.Wait()
			}
		})
	}
}
