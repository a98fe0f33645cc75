package node

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/builtins/node/render"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/tool"
)

// opening is the conversation a step begins with: who the executor is, the
// newest steps before it as pairs of question and report, first those of earlier
// runs, and the step itself. Tool calls of earlier steps are not in it, so none
// is ever orphaned.
func (x *executor) opening(v engine.View, st plan.Step) []model.Message {
	limit := v.Program.Limits.ExecutorMessageHistoryLimit
	pairs := reported(v.State.Steps)
	pairs = pairs[max(0, len(pairs)-limit):]
	earlier := v.State.Earlier
	earlier = earlier[max(0, len(earlier)+len(pairs)-limit):]
	out := make([]model.Message, 0, 2*(len(earlier)+len(pairs))+6)
	out = append(out, model.Message{Role: model.System, Text: x.system(v, st)})
	for _, in := range earlier {
		out = append(out,
			model.Message{Role: model.User, Text: model.Text{executorStep, in.Question}},
			model.Message{Role: model.Assistant, Text: model.Text{in.Answer}})
	}
	texts := make(model.Text, 0, 3*len(pairs)) // of all pairs, in one piece
	for i := range pairs {
		rec := &pairs[i]
		report := rec.Result
		if rec.Status != plan.OK {
			report = "[" + string(rec.Status) + "] " + rec.Error + "\n" + report
		}
		texts = append(texts, executorStep, rec.Goal, report)
		at := len(texts)
		out = append(out,
			model.Message{Role: model.User, Text: texts[at-3 : at-1 : at-1]},
			model.Message{Role: model.Assistant, Text: texts[at-1 : at : at]})
	}
	return append(out, model.Message{Role: model.User, Text: task(v, st)})
}

// reported is the steps that ran, in plan order.
func reported(steps []plan.StepRecord) []plan.StepRecord {
	for i := range steps {
		if steps[i].Status == plan.Skipped {
			var out []plan.StepRecord
			for _, rec := range steps {
				if rec.Status != plan.Skipped {
					out = append(out, rec)
				}
			}
			return out
		}
	}
	return steps
}

// system says who the executor is, and what shape its report has where that is
// the answer of the run.
func (x *executor) system(v engine.View, st plan.Step) model.Text {
	own := systemPrompt(v, x.cfg.LLM.Name, x.cfg.ExecutorSystemPrompt)
	text := model.Text{executorSystem}
	if !own.IsZero() {
		text = model.Text(own.Render(valuesOf(v, x.id).lookup))
	}
	if x.isFinal(v, st) {
		text = withSchema(v, text, executorOutput)
	}
	return withDatetime(v, text)
}

// task is the step as the executor is given it.
func task(v engine.View, st plan.Step) model.Text {
	text := model.Text{executorStep, st.Goal, "\n"}
	if len(st.Tools) > 0 {
		text = append(text, "Tools planned for it: ")
		for i, t := range st.Tools {
			if i > 0 {
				text = append(text, ", ")
			}
			text = append(text, t)
		}
		text = append(text, "\n")
	}
	if st.Success != "" {
		text = append(text, "It is done when: ", st.Success, "\n")
	}
	if st.Context != "" {
		text = append(text, "Context: ", st.Context, "\n")
	}
	if len(st.Args) > 0 {
		text = append(text, "Arguments the planner gave: ", string(jsonvalue.Encode(st.Args)), "\n")
	}
	if st.Goal != v.State.Question {
		text = append(text, "It is part of the objective (do only your step): ", v.State.Question, "\n")
	}
	if len(v.Files) > 0 {
		text = append(text, "Files given:\n", render.Files(v.Files), "\n")
	}
	return withSession(v, text)
}

// situation says where in the plan a guided step is and what the newest steps
// before it returned.
func (a *attempt) situation(v engine.View) *tool.PlanContext {
	const newest, resultBytes = 5, 4000
	c := &tool.PlanContext{
		Objective: v.State.Question, Goal: a.st.Goal, Context: a.st.Context, Success: a.st.Success,
		Plan: make([]tool.PlanContextStep, 0, len(v.State.Plan.Steps)),
	}
	recent := v.State.Steps[max(0, len(v.State.Steps)-newest):]
	for _, st := range v.State.Plan.Steps {
		step := tool.PlanContextStep{ID: st.ID, Goal: st.Goal, Status: "pending"}
		if st.ID == a.st.ID {
			step.Status = "current"
		} else if rec, ok := v.State.Record(st.ID); ok {
			step.Status = string(rec.Status)
		}
		if i := slices.IndexFunc(recent, func(r plan.StepRecord) bool { return r.ID == st.ID }); i >= 0 {
			step.Result = render.Shorten(recent[i].Result, resultBytes)
		}
		c.Plan = append(c.Plan, step)
	}
	c.Text = situationText(c, true)
	return c
}

// situationText is a plan context for a model to read, fenced: goals and results
// come from models and tools. Without details it is the plan alone, for a model
// that has the rest in its conversation.
func situationText(c *tool.PlanContext, details bool) string {
	var b strings.Builder
	b.WriteString("Objective: " + c.Objective + "\nPlan:\n")
	for i, st := range c.Plan {
		b.WriteString(strconv.Itoa(i+1) + ". [" + st.Status + "] " + st.ID + ": " + st.Goal + "\n")
	}
	if details && c.Context != "" {
		b.WriteString("Context of the current step: " + c.Context + "\n")
	}
	if details && c.Success != "" {
		b.WriteString("The current step is done when: " + c.Success + "\n")
	}
	for _, st := range c.Plan {
		if details && st.Result != "" {
			b.WriteString("Result of " + st.ID + ":\n" + st.Result + "\n")
		}
	}
	return guidedContext + strings.Join(render.Fenced(nil, strings.TrimRight(b.String(), "\n")), "")
}
