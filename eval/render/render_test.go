package render_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/graph"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/eval/render"
)

// node renders parts of its view.
type node struct{}

func (*node) Run(engine.Scope) error { return nil }

func (*node) Prompt(v engine.View) []model.Message {
	return []model.Message{
		{Role: model.System, Text: model.Text{"at ", v.Started.Format(time.DateOnly), "\n\n"}},
		{Role: model.User, Text: model.Text{v.State.Question, " after ", model.Text{history(v)}.String()}},
	}
}

func history(v engine.View) string {
	if len(v.State.History) == 0 {
		return "nothing"
	}
	return v.State.History[0].Question
}

// caller also sets the LLM of its call.
type caller struct{ node }

func (c *caller) Call(v engine.View) model.Call {
	return model.Call{LLM: "main", Messages: c.Prompt(v)}
}

// PlanRules implements engine.Planner.
func (*caller) PlanRules() engine.PlanRules { return engine.PlanRules{} }

// noPrompt has no prompt.
type noPrompt struct{}

func (noPrompt) Run(engine.Scope) error { return nil }

func program() *engine.Program {
	return &engine.Program{
		Nodes:      map[string]engine.Node{"first": &caller{}, "router": &node{}, "human": noPrompt{}},
		Graph:      &graph.Graph[engine.Condition]{Start: "first", Nodes: []graph.Node{{ID: "first", Type: "planner"}}},
		Parameters: []engine.Parameter{{Name: "question", Required: true}, {Name: "n", Schema: []byte(`{"type":"integer"}`)}},
	}
}

func TestPromptsOfAState(t *testing.T) {
	for _, tt := range []struct {
		name, state, asked, node string
		want                     string
	}{
		{"nothing given", ``, "", "router", "## system\n\nat 2026-01-02\n\n## user\n\n(the question) after nothing\n"},
		{"a question", `{"question":"Why?"}`, "", "router", "## system\n\nat 2026-01-02\n\n## user\n\nWhy? after nothing\n"},
		{"the parameter is stronger", `{"question":"Why?","parameters":{"question":"How?"}}`, "", "router", "## system\n\nat 2026-01-02\n\n## user\n\nHow? after nothing\n"},
		{"what is asked is the strongest", `{"question":"Why?"}`, "Where?", "router", "## system\n\nat 2026-01-02\n\n## user\n\nWhere? after nothing\n"},
		{"a day", `{"now":"2027-05-06T00:00:00Z"}`, "", "router", "## system\n\nat 2027-05-06\n\n## user\n\n(the question) after nothing\n"},
		{"a role by its id", ``, "", "planner", "## system\n\nat 2026-01-02\n\n## user\n\n(the question) after nothing\n"},
		{"with earlier turns", ``, "", render.WithHistory, "## system\n\nat 2026-01-02\n\n## user\n\n(the question) after (an earlier question)\n"},
		{"which the state has", `{"history":[{"question":"Before?"}]}`, "", render.WithHistory, "## system\n\nat 2026-01-02\n\n## user\n\n(the question) after Before?\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := render.Read([]byte(tt.state))
			if err != nil {
				t.Fatal(err)
			}
			v, err := s.View(program(), tt.asked, nil)
			if err != nil {
				t.Fatal(err)
			}
			call, err := render.Call(v, tt.node)
			if d := cmp.Diff(tt.want, render.Markdown(call.Messages)); d != "" || err != nil {
				t.Error(err, d)
			}
		})
	}
}

func TestRenderErrors(t *testing.T) {
	s, err := render.Read(nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := s.View(program(), "", []string{"n=3"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"human", "nowhere"} {
		if _, err := render.Call(v, name); err == nil || err.Error() != name+": the nodes with prompts are first, router and planner_with_history" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := render.Read([]byte(`{"plan": 3}`)); err == nil || !strings.HasPrefix(err.Error(), "the given state: ") {
		t.Errorf("error %v", err)
	}
	if _, err := render.Read([]byte(`{"steps": [{"satus": "ok"}]}`)); err == nil || err.Error() != `the given state: unknown key "satus"` {
		t.Errorf("error %v", err)
	}
	if _, err := s.View(program(), "", []string{"m=3"}); err == nil {
		t.Error("an unknown parameter was accepted")
	}
}

// Views do not share state.
func TestViewDoesNotChangeState(t *testing.T) {
	s, err := render.Read([]byte(`{"steps":[{"goal":"look"}],"plan":{"steps":[{"goal":"look"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := s.View(program(), "", nil); err != nil {
			t.Fatal(err)
		}
		if s.Steps[0].ID != "" || s.Plan.Steps[0].ID != "" {
			t.Fatalf("the state was changed: %+v", s.Result)
		}
	}
}
