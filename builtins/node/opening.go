package node

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/builtins/node/compact"
	"github.com/pexctl/pex/builtins/node/render"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/tool"
)

// opening returns the first messages of a step: the system prompt, the objective, the
// newest earlier steps (those of earlier runs first) as pairs of step and report, and the
// step itself. It contains no tool calls of earlier steps, so it never has a call without
// a result. Parts that rarely change come first, which helps prompt caching.
func (x *executor) opening(v *engine.View, st plan.Step) []model.Message {
	limit := v.Program.Limits.ExecutorMessageHistoryLimit
	pairs, earlier := executedSteps(v.State.Steps), v.State.Earlier
	earlier = earlier[min(len(earlier), max(0, len(earlier)+len(pairs)-limit)):]
	pairs = pairs[render.History(limit).First(len(pairs)):]
	out := make([]model.Message, 0, 2*(len(earlier)+len(pairs))+6)
	out = append(out, model.Message{Role: model.System, Text: x.system(v, st)})
	for _, in := range earlier {
		out = append(out,
			model.Message{Role: model.User, Text: model.Text{in.Question}},
			model.Message{Role: model.Assistant, Text: model.Text{in.Answer}})
	}
	texts := make(model.Text, 0, 2*len(pairs)) // one allocation for all pairs
	for i := range pairs {
		rec := &pairs[i]
		report := rec.Result
		if rec.Status != plan.OK {
			report = "[" + string(rec.Status) + "] " + rec.Error + "\n" + report
		}
		texts = append(texts, rec.Goal, report)
		at := len(texts)
		out = append(out,
			model.Message{Role: model.User, Text: texts[at-2 : at-1 : at-1]},
			model.Message{Role: model.Assistant, Text: texts[at-1 : at : at]})
	}
	out = append(out, model.Message{Role: model.User, Text: task(v, st)})
	if st.Goal != v.State.Question {
		first := &out[1]
		if compact.Enabled(v.Program) {
			first = &out[len(out)-1] // the only message that compaction never removes
		}
		first.Text = slices.Concat(model.Text{executorObjective, v.State.Question, "\n\n"}, first.Text)
	}
	return out
}

// executedSteps returns the steps that ran, in plan order.
func executedSteps(steps []plan.StepRecord) []plan.StepRecord {
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

// system returns the executor's system prompt. If the report is the answer of the run, it
// includes the output schema.
func (x *executor) system(v *engine.View, st plan.Step) model.Text {
	own := systemPrompt(v, x.cfg.LLM.Name, x.cfg.ExecutorSystemPrompt)
	text := model.Text{executorSystem}
	if !own.IsZero() {
		text = model.Text(own.Render(valuesOf(v, x.id).lookup))
	}
	if x.isFinal(v, st) {
		text = withSchema(v, text, answerSchema)
	}
	return withDatetime(v, text)
}

// task returns the message that gives the executor its step.
func task(v *engine.View, st plan.Step) model.Text {
	text := model.Text{st.Goal, "\n"}
	if len(st.Tools) > 0 {
		text = append(text, "Tools: ")
		for i, t := range st.Tools {
			if i > 0 {
				text = append(text, ", ")
			}
			text = append(text, t)
		}
		text = append(text, "\n")
	}
	if st.Success != "" {
		text = append(text, "Done when: ", st.Success, "\n")
	}
	if st.Context != "" {
		text = append(text, "Context: ", st.Context, "\n")
	}
	if len(st.Args) > 0 {
		text = append(text, "Arguments: ", string(jsonvalue.Encode(st.Args)), "\n")
	}
	if len(v.Files) > 0 {
		text = append(text, "Files:\n", render.Files(v.Files), "\n")
	}
	return appendMessages(withSession(v, text), v.State.UserMessages)
}

// situation returns the plan context of a guided step: its position in the plan and the
// results of the newest steps before it.
func (a *attempt) situation(v *engine.View) *tool.PlanContext {
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

// situationText renders a plan context for a model. Goals and results come from models
// and tools, so they are fenced. Without details it contains only the plan, for a model
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
