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

// Tools lists tools in spec order, so that the prompt stays the same across calls.
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

// Plan lists the whole plan, numbered, with the status of each step.
func Plan(st *engine.State) []string {
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

// Completed lists every ended step with its status and its fenced result.
func Completed(steps []plan.StepRecord) []string {
	if len(steps) == 0 {
		return []string{"(none yet)"}
	}
	out := make([]string, 0, 15*len(steps))
	for i := range steps {
		rec := &steps[i]
		out = append(out, "Step ", rec.ID, " [", statusText(rec))
		out = append(oneLine(append(out, "]:"), rec.Goal), "\n") // a goal may contain tool output
		out = appendResult(out, rec)
	}
	return out
}

// appendResult appends the results of a step, each text in a fence.
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

// Fenced appends a text between delimiter lines that it cannot contain.
func Fenced(out []string, text string) []string {
	fence := prompt.Fence(text)
	return append(out, fence, "\n", text, "\n", fence)
}

// oneLine appends a text to the current line. A multi-line text is fenced, because its
// lines could be mistaken for those of the prompt.
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
func Remaining(st *engine.State) []string {
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

// Failed lists the steps that ended with a status other than ok, with their errors.
func Failed(st *engine.State) []string {
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

// Chat renders earlier turns of a conversation, each in a fence.
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

// Usage describes what a run has used so far.
func Usage(u engine.Usage) string {
	return strconv.Itoa(u.ModelCalls) + " model calls, " + strconv.Itoa(u.ToolCalls) + " tool calls, " +
		strconv.Itoa(u.Total()) + " tokens"
}

// Files lists the files of a run.
func Files(files []string) string {
	if len(files) == 0 {
		return "(none)"
	}
	return "- " + strings.Join(files, "\n- ")
}

// Session lists the notes and variables, one per line. Further lines of a note are
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

// Shorten keeps the start and the end of a text longer than the given number of bytes.
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
