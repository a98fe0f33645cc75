package node

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pexctl/pex/builtins/node/planning"
	"github.com/pexctl/pex/builtins/node/reply"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/stop"
)

// review asks a human to approve a plan if planner.approval requires it, regardless of
// which node made the plan. Remaining steps that a reply repeats unchanged need no new
// approval. denied is the reviewer's reason, to pass on to the model. If the edited plan
// is invalid, review asks again.
func review(s engine.Scope, by string, p engine.PlanRules, steps []plan.Step) (out []plan.Step, denied string, err error) {
	env := func(source string) map[string]any {
		v := s.View()
		v.State = v.State.Apply(engine.PlanAccepted{Steps: steps})
		return v.Env(source)
	}
	if !needsApproval(s, p.Approval, env) || sameSteps(s, steps) {
		return steps, "", nil
	}
	name, question := "approval", "Run this plan?"
	for n := 2; ; n++ {
		q := interrupt.Question{Kind: interrupt.Plan, Args: planJSON(steps), Question: question}
		d, err := s.Ask(name, q.Restrict(p.Approvers))
		switch {
		case err != nil:
			return nil, "", err
		case d.Do == "edit":
			name = fmt.Sprintf("approval.%d", n)
			edited, err := editedPlan(s, by, p.Format, d.Edit)
			switch {
			case err != nil:
				question = "Run this plan? The edit cannot be used: " + err.Error()
			case p.Approvers.FourEyes: // someone else approves the edit
				steps, question = edited, "Run this plan? A reviewer edited it."
			default:
				return edited, "", nil
			}
		case d.Approved():
			return steps, "", nil
		case d.Reason == "" && d.Text == "":
			return nil, "", stop.Denied("planner.approval", "a person denied the plan")
		default:
			return nil, "A reviewer rejected the plan: " + d.Reason + d.Text, nil
		}
	}
}

// needsApproval evaluates an approval: never (also ""), always, or an expression. An
// expression that fails to evaluate requires approval.
func needsApproval(s engine.Scope, g component.GuardRef, env func(string) map[string]any) bool {
	switch g.Source {
	case "", "never":
		return false
	case "always":
		return true
	}
	ok, err := g.Eval(env(g.Source))
	if err != nil {
		s.Record(engine.WarningAdded{Text: "planner.approval cannot be evaluated, so a human is asked: " + err.Error()})
	}
	return ok || err != nil
}

// sameSteps reports whether steps are the remaining steps of the plan: the same goals in
// the same order with the same dependencies, and no other change. Fields that the reply
// omits count as unchanged.
func sameSteps(s engine.Scope, steps []plan.Step) bool {
	v := s.View()
	open := v.State.Remaining()
	behind := func(step plan.Step) []string {
		deps := slices.DeleteFunc(slices.Clone(step.DependsOn), v.State.Done)
		slices.Sort(deps)
		return slices.Compact(deps)
	}
	return len(open) > 0 && slices.EqualFunc(open, steps, func(was, now plan.Step) bool {
		return was.Goal == now.Goal && slices.Equal(behind(was), behind(now)) &&
			(now.Context == "" || now.Context == was.Context) &&
			(now.Success == "" || now.Success == was.Success) &&
			(len(now.Tools) == 0 || slices.Equal(was.Tools, now.Tools)) &&
			(len(now.Args) == 0 || bytes.Equal(jsonvalue.Encode(was.Args), jsonvalue.Encode(now.Args)))
	})
}

// editedPlan parses a plan edited by the reviewer and checks it like a model's.
func editedPlan(s engine.Scope, by, format string, edit json.RawMessage) ([]plan.Step, error) {
	p := reply.Parse(string(edit), reply.Options{})
	if p.Kind != reply.Plan {
		return nil, errors.New(p.Message)
	}
	v := s.View()
	steps := planning.AddDependencies(planning.Number(&v, toSteps(p.Steps)))
	if wrong := planning.Check(s, &v, stepTools(&v, by), format, steps); len(wrong) > 0 {
		return nil, errors.New(strings.Join(wrong, "; "))
	}
	return steps, nil
}

// planJSON returns a plan in the form that a reviewer edits.
func planJSON(steps []plan.Step) json.RawMessage {
	return jsonvalue.Encode(struct {
		Steps []plan.Step `json:"steps"`
	}{steps})
}
