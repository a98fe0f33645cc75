package node_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/builtins/node"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/runtime"
	"github.com/pexctl/pex/engine/stop"
)

// spoken replies from a list per role. The executor completes its steps at once.
type spoken struct {
	replies map[string][]string
	prompts *[]string
}

func (m spoken) Generate(_ context.Context, req *model.Request, _ func(model.Delta)) (*model.Reply, error) {
	var b strings.Builder
	for _, msg := range req.Messages {
		b.WriteString(msg.Text.String())
	}
	*m.prompts = append(*m.prompts, req.Role+": "+b.String())
	reply := &model.Reply{Text: "done", Stop: model.EndTurn, Usage: model.Tokens{Input: 1, Output: 1}}
	if said := m.replies[req.Role]; req.Call <= len(said) {
		reply.Text = said[req.Call-1]
	}
	return reply, nil
}

// reviewer answers from a list and records the goals it was shown.
type reviewer struct {
	answers []string
	seen    [][]string
}

func (r *reviewer) Ask(_ context.Context, q interrupt.Question) (json.RawMessage, error) {
	var plan plan.Plan
	if err := json.Unmarshal(q.Args, &plan); err != nil {
		return nil, err
	}
	var goals []string
	for _, st := range plan.Steps {
		goals = append(goals, st.Goal)
	}
	r.seen = append(r.seen, goals)
	return json.Marshal(interrupt.Parse(r.answers[len(r.seen)-1]))
}

// TestEveryNewPlanIsReviewed checks planner.approval for planner and reflector. The
// unchanged rest of an approved plan needs no new approval.
func TestEveryNewPlanIsReviewed(t *testing.T) {
	for _, c := range []struct {
		name      string
		reflector []string
		answers   []string
		seen      [][]string
		steps     []string
		status    stop.RunStatus
		told      string
	}{
		{
			"the rest is not shown again",
			[]string{`{"steps":["b"]}`, `{"result":"r"}`},
			[]string{"approve"},
			[][]string{{"a", "b"}},
			[]string{"a", "b"},
			stop.RunCompleted, "",
		},
		{
			"a new step is shown",
			[]string{`{"steps":["c"]}`, `{"result":"r"}`},
			[]string{"approve", "approve"},
			[][]string{{"a", "b"}, {"c"}},
			[]string{"a", "c"},
			stop.RunCompleted, "",
		},
		{
			"the same step with arguments is shown",
			[]string{`{"steps":[{"goal":"b","args":{"n":1}}]}`, `{"result":"r"}`},
			[]string{"approve", "approve"},
			[][]string{{"a", "b"}, {"b"}},
			[]string{"a", "b"},
			stop.RunCompleted, "",
		},
		{
			"the same step with another context is shown",
			[]string{`{"steps":[{"goal":"b","context":"and delete it"}]}`, `{"result":"r"}`},
			[]string{"approve", "approve"},
			[][]string{{"a", "b"}, {"b"}},
			[]string{"a", "b"},
			stop.RunCompleted, "",
		},
		{
			"an edit is what runs",
			[]string{`{"steps":["c"]}`, `{"result":"r"}`},
			[]string{"approve", `edit:{"steps":["d"]}`},
			[][]string{{"a", "b"}, {"c"}},
			[]string{"a", "d"},
			stop.RunCompleted, "",
		},
		{
			"a denial with a reason goes back to the reflector",
			[]string{`{"steps":["c"]}`, `{"result":"r"}`},
			[]string{"approve", "deny:c is too dear"},
			[][]string{{"a", "b"}, {"c"}},
			[]string{"a"},
			stop.RunCompleted, "c is too dear",
		},
		{
			"a denial without one ends the run",
			[]string{`{"steps":["c"]}`},
			[]string{"approve", "deny"},
			[][]string{{"a", "b"}, {"c"}},
			[]string{"a"},
			stop.RunCancelled, "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var prompts []string
			people := &reviewer{answers: c.answers}
			replies := map[string][]string{"planner": {`{"steps":["a","b"]}`}, "reflector": c.reflector}
			res := runtime.Run(context.Background(), approvedProgram(t), perInput, engine.Host{
				Models: map[string]model.Model{"main": spoken{replies, &prompts}}, Responder: people,
			}, runtime.Options{})
			var steps []string
			for _, st := range res.Steps {
				steps = append(steps, st.Goal)
			}
			if res.Status != c.status {
				t.Errorf("the run ended %s: %+v", res.Status, res.StopReason)
			}
			if diff := cmp.Diff(c.seen, people.seen); diff != "" {
				t.Errorf("plans shown (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.steps, steps); diff != "" {
				t.Errorf("steps run (-want +got):\n%s", diff)
			}
			if last := prompts[len(prompts)-1]; !strings.Contains(last, c.told) {
				t.Errorf("the last prompt does not say %q:\n%s", c.told, last)
			}
		})
	}
}

// approvedProgram requires approval of every plan.
func approvedProgram(t *testing.T) *engine.Program {
	t.Helper()
	p := perProgram(t)
	c := node.Planner.Config().(*node.PlannerConfig)
	c.LLM.Name, c.PlanFormat, c.Approval = "main", "steps", component.GuardRef{Source: "always"}
	c.PlannerPrompt, c.PlannerPromptTemplate = compiledPrompt(c.PlannerPrompt), compiledPrompt(c.PlannerPromptTemplate)
	n, err := node.Planner.Build(c, engine.NodeSettings{ID: "planner"})
	if err != nil {
		t.Fatal(err)
	}
	p.Nodes["planner"] = n
	return p
}
