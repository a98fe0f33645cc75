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

// person answers questions with these decisions, one after the other.
type person struct {
	mu      sync.Mutex
	asked   []interrupt.Question
	answers []interrupt.Decision
	err     error
}

func (p *person) ask(_ context.Context, q interrupt.Question) (interrupt.Decision, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, q)
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

func TestPersonAnswersInTheMiddleOfACall(t *testing.T) {
	tests := []struct {
		name, about string
		answers     []string
		want        string
		again       string // in the question that is asked again
	}{
		{"edit", "x", []string{`edit:{"name":"Ada","age":36}`}, `accept {"age":36,"name":"Ada"}`, ""},
		{"defaults are filled in", "x", []string{`edit:{"name":"Ada"}`}, `accept {"age":30,"name":"Ada"}`, ""},
		{"deny", "x", []string{"deny:no time"}, "decline null", ""},
		{"approve takes the defaults", "defaults", []string{"approve"}, `accept {"age":30}`, ""},
		{"text for the only field", "defaults", []string{"41"}, `accept {"age":41}`, ""},
		{"text that does not fit", "defaults", []string{"old", "41"}, `accept {"age":41}`, "age wants a whole number"},
		{"approve without what is needed", "x", []string{"approve", `edit:{"name":"Ada"}`}, `accept {"age":30,"name":"Ada"}`, "name is needed"},
		{"too short", "x", []string{`edit:{"name":"A"}`, `edit:{"name":"Al"}`}, `accept {"age":30,"name":"Al"}`, "at least 2 characters"},
		{"unknown value", "x", []string{`edit:{"nam":"A"}`, "no"}, "decline null", "nam is not asked for"},
		{"a page to open", "https://sign.example/in", []string{"approve"}, "accept null", ""},
		{"a page that is not opened", "https://sign.example/in", []string{"later", "deny"}, "decline null", "approve says that it is done"},
	}
	for _, tr := range transports {
		set := tr.make(t, nil)
		for _, tt := range tests {
			t.Run(tr.name+" "+tt.name, func(t *testing.T) {
				p := &person{answers: decisions(tt.answers...)}
				out, err := asking(bound(t, set, "ask"), tt.about, p.ask)
				if err != nil {
					t.Fatal(err)
				}
				if out.Text != tt.want {
					t.Errorf("got %s, want %s", out.Text, tt.want)
				}
				last := p.asked[len(p.asked)-1]
				if last.Kind != interrupt.Elicitation || !strings.Contains(last.Question, tt.again) || len(p.asked) != len(tt.answers) {
					t.Errorf("asked %d times, last %+v", len(p.asked), last)
				}
			})
		}
	}
}

func asking(t tool.Tool, about string, ask func(context.Context, interrupt.Question) (interrupt.Decision, error)) (*tool.Output, error) {
	args, _ := json.Marshal(map[string]string{"text": about})
	return t.Call(context.Background(), &tool.Call{Args: args, Ask: ask, Progress: func(string) {}})
}

func TestQuestionTellsTheForm(t *testing.T) {
	p := &person{answers: decisions("deny")}
	if _, err := asking(bound(t, child(t, "plain", nil), "ask"), "you", p.ask); err != nil {
		t.Fatal(err)
	}
	q := p.asked[0]
	if q.Question != "Who is it, you?" || !strings.Contains(string(q.Args), `"name"`) {
		t.Errorf("question %+v", q)
	}
}

func TestNobodyIsThere(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			p := &person{err: tool.ErrNoResponder}
			out, err := asking(bound(t, tr.make(t, nil), "ask"), "x", p.ask)
			if err != nil || out.Text != "cancel null" {
				t.Errorf("output %v, error %v", out, err)
			}
		})
	}
}

// A question that is put to a person ends the call at once.
func TestAskingEndsTheCall(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(context.Background())
			one := bound(t, tr.make(t, nil), "ask")
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

func TestElicitationThatIsOffIsNotOffered(t *testing.T) {
	set := child(t, "plain", func(c *mcp.Config, _ *tool.Settings) { c.Elicitation = false })
	p := &person{answers: decisions("approve")}
	_, err := asking(bound(t, set, "ask"), "defaults", p.ask)
	if err == nil || len(p.asked) > 0 {
		t.Errorf("error %v, asked %v", err, p.asked)
	}
}

// A call that asks beside others gets its own answer, or, where the server does
// not say which one asks, none: and from then on its own.
func TestManyCallsAskAtOnce(t *testing.T) {
	for _, tr := range transports {
		t.Run(tr.name, func(t *testing.T) {
			tool := bound(t, tr.make(t, nil), "ask")
			for round := range 2 {
				var all sync.WaitGroup
				for _, name := range []string{"Ada", "Bob", "Eve"} {
					all.Go(func() {
						p := &person{answers: decisions(`edit:{"name":"` + name + `"}`)}
						out, err := asking(tool, name, p.ask)
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
