package node

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/prompt"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// values gives templates the engine's own parameters (engine.PromptNames) and
// the declared ones; each is made only when a template asks for it.
type values struct {
	v             engine.View
	plannerPrompt component.PromptRef
	reflectPrompt component.PromptRef
	format        string
}

func newValues(v engine.View) *values { return &values{v: v, format: formatList} }

func (x *values) lookup(ns, name string) (any, bool) {
	switch ns {
	case "steps":
		return stepValue(x.v, name)
	case "parameters":
		if value, ok := x.v.State.Parameters[name]; ok {
			return value, true
		}
		return x.own(name)
	}
	return nil, false
}

func (x *values) own(name string) (any, bool) {
	st := x.v.State
	switch name {
	case "question", "user_prompt":
		return st.Question, true
	case "tools_prompt":
		return toolsText(executorOf(x.v).visible(x.v)), true
	case "planner_prompt":
		return x.plannerPrompt.Render(x.lookup), true
	case "reflect_prompt":
		return x.reflectPrompt.Render(x.lookup), true
	case "plan_execute_reflect_response_format":
		return x.responseFormat(), true
	case "steps":
		return planText(st), true
	case "completed_steps":
		return completedText(x.v), true
	case "remaining_steps":
		return remainingText(st), true
	case "failed_steps":
		return failedText(st), true
	case "chat_history":
		return chatText(st.History), true
	case "usage":
		return usageText(st.Usage), true
	case "now":
		return x.v.Started.UTC().Format("2006-01-02T15:04:05Z"), true
	case "files":
		return filesText(x.v.Files), true
	}
	return nil, false
}

func (x *values) responseFormat() string {
	switch x.format {
	case formatSteps:
		return responseSteps
	case formatDag:
		return responseDag
	}
	return responseList
}

// toolsText lists tools in spec order, so that the prompt stays the same from
// call to call.
func toolsText(tools []engine.ToolInfo) []string {
	if len(tools) == 0 {
		return []string{"There are no tools: steps are reasoning over what is given."}
	}
	out := make([]string, 1, 5*len(tools)+2)
	out[0] = "The tools that steps can use:\n"
	for _, t := range tools {
		out = append(out, "- ", t.Name, ": ", strings.ReplaceAll(strings.TrimSpace(t.Description), "\n", "\n  "), "\n")
	}
	return append(out, "There are no other tools.")
}

// planText is the whole plan, numbered, with what became of each step.
func planText(st engine.State) []string {
	if len(st.Plan.Steps) == 0 {
		return []string{"(no plan)"}
	}
	out := make([]string, 0, 8*len(st.Plan.Steps))
	for i, step := range st.Plan.Steps {
		state := "remains"
		if rec, ok := st.Record(step.ID); ok {
			state = string(rec.Status)
		}
		out = append(out, strconv.Itoa(i+1), ". [", state, "] ", step.ID, ": ", step.Goal, "\n")
	}
	return out
}

// completedText is every ended step with its status, and its result fenced by
// a delimiter that the result cannot contain.
func completedText(v engine.View) []string {
	st := v.State
	if len(st.Steps) == 0 {
		return []string{"(none yet)"}
	}
	out := make([]string, 0, 13*len(st.Steps))
	for i := range st.Steps {
		rec := &st.Steps[i]
		out = append(out, "Step ", rec.ID, " [", statusText(rec), "]: ", rec.Goal, "\n")
		result := rec.Result
		if result == "" {
			result = "(no result)"
		}
		fence := prompt.Fence(result)
		out = append(out, fence, "\n", result, "\n", fence, "\n")
		if rec.Error != "" {
			out = append(out, "Error: ", rec.Error, "\n")
		}
		if rec.Notes != "" {
			out = append(out, "Tool outputs:\n", rec.Notes, "\n")
		}
	}
	return out
}

func statusText(rec *engine.StepRecord) string {
	if rec.Attempts > 1 {
		return string(rec.Status) + ", " + strconv.Itoa(rec.Attempts) + " attempts"
	}
	return string(rec.Status)
}

func remainingText(st engine.State) []string {
	var out []string
	i := 0
	for step := range st.Open() {
		if i++; out == nil {
			out = make([]string, 0, 6*len(st.Plan.Steps))
		}
		out = append(out, strconv.Itoa(i), ". ", step.ID, ": ", step.Goal, "\n")
	}
	if out == nil {
		return []string{"(none)"}
	}
	return out
}

func failedText(st engine.State) []string {
	var out []string
	for i := range st.Steps {
		if rec := &st.Steps[i]; rec.Status != engine.StepOK {
			out = append(out, "- "+rec.ID+" ["+statusText(rec)+"]: ", rec.Goal, ": ", rec.Error, "\n")
		}
	}
	if out == nil {
		return []string{"(none)"}
	}
	return out
}

func chatText(history []engine.Interaction) []string {
	if len(history) == 0 {
		return []string{"(none)"}
	}
	out := make([]string, 0, 2*len(history))
	for _, in := range history {
		fence := prompt.Fence(in.Question + "\n" + in.Answer)
		out = append(out, "Question:\n"+fence+"\n", in.Question, "\n"+fence+"\nAnswer:\n"+fence+"\n", in.Answer, "\n"+fence+"\n")
	}
	return out
}

func usageText(u engine.Usage) string {
	return strconv.Itoa(u.ModelCalls) + " model calls, " + strconv.Itoa(u.ToolCalls) + " tool calls, " +
		strconv.Itoa(u.Total()) + " tokens"
}

func filesText(files []string) string {
	if len(files) == 0 {
		return "(none)"
	}
	return "- " + strings.Join(files, "\n- ")
}

// withSchema adds the output schema to a system prompt.
func withSchema(v engine.View, text engine.Text) engine.Text {
	out := v.Program.Output
	if out == nil || out.Schema.IsZero() {
		return text
	}
	schema := string(out.Schema.JSON)
	if b, err := json.MarshalIndent(out.Schema.JSON, "", "  "); err == nil {
		schema = string(b)
	}
	return append(text, "\n", outputSchema, schema, "\n")
}
