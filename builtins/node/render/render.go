package render

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pexctl/pex/dsl/prompt"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/tool"
)

// Tools lists tools in spec order, so that the prompt stays the same from
// call to call.
func Tools(tools []tool.Info) []string {
	if len(tools) == 0 {
		return []string{"There are no tools. Steps can only reason over the given information."}
	}
	out := make([]string, 1, 4*len(tools)+1)
	out[0] = "Tools:"
	for _, t := range tools {
		out = append(out, "\n- ", t.Name, ": ", strings.ReplaceAll(strings.TrimSpace(t.Description), "\n", "\n  "))
	}
	return out
}

// Plan is the whole plan, numbered, with what became of each step.
func Plan(st engine.State) []string {
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

// Completed is every ended step with its status, and its result fenced by
// a delimiter that the result cannot contain.
func Completed(v engine.View) []string {
	st := v.State
	if len(st.Steps) == 0 {
		return []string{"(none yet)"}
	}
	out := make([]string, 0, 15*len(st.Steps))
	for i := range st.Steps {
		rec := &st.Steps[i]
		out = append(out, "Step ", rec.ID, " [", statusText(rec))
		out = append(oneLine(append(out, "]:"), rec.Goal), "\n") // a goal may hold what a tool gave
		out = appendResult(out, rec)
	}
	return out
}

// appendResult adds what a step returned, each text fenced.
func appendResult(out []string, rec *plan.StepRecord) []string {
	result := rec.Result
	if result == "" {
		result = "(no result)"
	}
	out = append(Fenced(out, result), "\n")
	if rec.Error != "" {
		out = append(oneLine(append(out, "Error:"), rec.Error), "\n")
	}
	if rec.Notes != "" {
		out = append(Fenced(append(out, "Tool outputs:\n"), strings.TrimRight(rec.Notes, "\n")), "\n")
	}
	return out
}

// Fenced adds a text between lines that it cannot contain.
func Fenced(out []string, text string) []string {
	fence := prompt.Fence(text)
	return append(out, fence, "\n", text, "\n", fence)
}

// oneLine adds a text after what is on the line; one of several lines,
// which could pass for those below it, is fenced.
func oneLine(out []string, text string) []string {
	if !strings.ContainsAny(text, "\n\r") {
		return append(out, " ", text)
	}
	return Fenced(append(out, "\n"), text)
}

func statusText(rec *plan.StepRecord) string {
	if rec.Attempts > 1 {
		return string(rec.Status) + ", " + strconv.Itoa(rec.Attempts) + " attempts"
	}
	return string(rec.Status)
}

// Remaining lists the steps that have not ended.
func Remaining(st engine.State) []string {
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

// Failed lists the steps that did not end well, with their errors.
func Failed(st engine.State) []string {
	var out []string
	for i := range st.Steps {
		if rec := &st.Steps[i]; rec.Status != plan.OK {
			out = oneLine(append(out, "- "+rec.ID+" ["+statusText(rec)+"]:"), rec.Goal)
			out = append(oneLine(append(out, ":"), rec.Error), "\n")
		}
	}
	if out == nil {
		return []string{"(none)"}
	}
	return out
}

// Chat is earlier turns of a conversation, each fenced.
func Chat(history []memory.Interaction) []string {
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

// Usage is what a run has used so far, in words.
func Usage(u engine.Usage) string {
	return strconv.Itoa(u.ModelCalls) + " model calls, " + strconv.Itoa(u.ToolCalls) + " tool calls, " +
		strconv.Itoa(u.Total()) + " tokens"
}

// Files lists the files given to a run.
func Files(files []string) string {
	if len(files) == 0 {
		return "(none)"
	}
	return "- " + strings.Join(files, "\n- ")
}

// Session is the notes and variables, one a line; further lines of a note are
// indented.
func Session(s memory.SessionView) string {
	var b strings.Builder
	if len(s.Notes) > 0 {
		b.WriteString("Notes:\n")
	}
	for i, n := range s.Notes {
		b.WriteString(strconv.Itoa(i+1) + ". [" + n.At.UTC().Format("2006-01-02 15:04") + "] ")
		b.WriteString(strings.ReplaceAll(strings.TrimSpace(n.Text), "\n", "\n   ") + "\n")
	}
	if len(s.Variables) > 0 {
		b.WriteString("Variables:\n")
	}
	for _, x := range s.Variables {
		b.WriteString("- " + x.String() + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Shorten keeps head and tail of a text that is longer than so many bytes.
func Shorten(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	mark := "\n[... middle of the output omitted; it had " + strconv.Itoa(len(text)) + " bytes ...]\n"
	room := max(0, bytes-len(mark))
	head, tail := room-room/2, len(text)-room/2
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	if out := text[:head] + mark + text[tail:]; len(out) < len(text) {
		return out
	}
	return text
}
