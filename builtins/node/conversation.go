package node

import (
	"strconv"

	"github.com/pexctl/pex/engine"
)

// opening is the conversation a step begins with: who the executor is, the
// newest steps before it as pairs of question and report, first those of earlier
// runs, and the step itself. Tool calls of earlier steps are not in it, so none
// is ever orphaned.
func (x *executor) opening(v engine.View, st engine.Step) []engine.Message {
	limit := v.Program.Limits.ExecutorMessageHistoryLimit
	pairs := reported(v.State.Steps)
	pairs = pairs[max(0, len(pairs)-limit):]
	earlier := v.State.Earlier
	earlier = earlier[max(0, len(earlier)+len(pairs)-limit):]
	out := make([]engine.Message, 0, 2*(len(earlier)+len(pairs))+6)
	out = append(out, engine.Message{Role: engine.System, Text: x.system(v, st)})
	for _, in := range earlier {
		out = append(out,
			engine.Message{Role: engine.User, Text: engine.Text{executorStep, in.Question}},
			engine.Message{Role: engine.Assistant, Text: engine.Text{in.Answer}})
	}
	texts := make(engine.Text, 0, 3*len(pairs)) // of all pairs, in one piece
	for i := range pairs {
		rec := &pairs[i]
		report := rec.Result
		if rec.Status != engine.StepOK {
			report = "[" + string(rec.Status) + "] " + rec.Error + "\n" + report
		}
		texts = append(texts, executorStep, rec.Goal, report)
		at := len(texts)
		out = append(out,
			engine.Message{Role: engine.User, Text: texts[at-3 : at-1 : at-1]},
			engine.Message{Role: engine.Assistant, Text: texts[at-1 : at : at]})
	}
	return append(out, engine.Message{Role: engine.User, Text: task(v, st)})
}

// reported is the steps that ran, in plan order.
func reported(steps []engine.StepRecord) []engine.StepRecord {
	for i := range steps {
		if steps[i].Status == engine.StepSkipped {
			var out []engine.StepRecord
			for _, rec := range steps {
				if rec.Status != engine.StepSkipped {
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
func (x *executor) system(v engine.View, st engine.Step) engine.Text {
	own := x.cfg.ExecutorSystemPrompt
	if own.IsZero() {
		if m := v.Model(x.cfg.LLM.Name); m != nil {
			own = m.SystemPrompt
		}
	}
	text := engine.Text{executorSystem}
	if !own.IsZero() {
		text = engine.Text(own.Render(valuesOf(v, x.id).lookup))
	}
	if x.answers(v, st) {
		text = withSchema(v, text, executorOutput)
	}
	return withDatetime(v, text)
}

// task is the step as the executor is given it.
func task(v engine.View, st engine.Step) engine.Text {
	text := engine.Text{executorStep, st.Goal, "\n"}
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
		text = append(text, "Arguments the planner gave: ", string(compactJSON(st.Args)), "\n")
	}
	if st.Goal != v.State.Question {
		text = append(text, "It is part of the objective (do only your step): ", v.State.Question, "\n")
	}
	if len(v.Files) > 0 {
		text = append(text, "Files given:\n", filesText(v.Files), "\n")
	}
	return withSession(v, text)
}

// situation says where in the plan a guided step is and what the last steps gave.
func (a *attempt) situation(v engine.View) []string {
	const newest = 5
	out := []string{"Objective: ", v.State.Question, "\nPlan:\n"}
	for i, st := range v.State.Plan.Steps {
		mark := "pending"
		if rec, ok := v.State.Record(st.ID); ok {
			mark = string(rec.Status)
		}
		if st.ID == a.st.ID {
			mark = "current"
		}
		out = append(out, strconv.Itoa(i+1)+". ["+mark+"] ", st.Goal, "\n")
	}
	done := v.State.Steps
	if len(done) > newest {
		done = done[len(done)-newest:]
	}
	for _, rec := range done {
		out = append(out, "Result of "+rec.ID+" ["+string(rec.Status)+"]: ", rec.Result, "\n")
	}
	return out
}
