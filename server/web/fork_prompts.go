package web

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/runview"
	"github.com/pexctl/pex/engine/secret"
)

// forkPrompt is a prompt that a fork can edit.
type forkPrompt struct {
	engine.Prompt
	Field  string // of the form
	Edited string // the text in the form
	Values []promptValue
}

// promptValue is a name in a prompt with its value.
type promptValue struct{ Name, Value string }

// promptField is the start of the names of the fields with prompts.
const promptField = "prompt."

// forkPrompts returns the prompts of a run that a fork can edit: those that a call uses, and
// the others. typed has the texts in the form.
func forkPrompts(run *runs.Run, call *runview.Item, typed url.Values, hidden *secret.Values) (used, others []forkPrompt) {
	for _, q := range run.Program.AllPrompts() {
		if q.Fixed {
			continue
		}
		p := forkPrompt{Prompt: q, Field: promptField + q.Name, Edited: q.Text}
		if texts, ok := typed[p.Field]; ok {
			p.Edited = unixLines(texts[0])
		}
		for _, name := range q.References {
			p.Values = append(p.Values, promptValue{name, valueOf(name, run.Start.Input.Parameters, hidden)})
		}
		if isUsedBy(run.Program, q, call) && (q.Text != "" || p.Edited != "") {
			used = append(used, p)
		} else {
			others = append(others, p)
		}
	}
	return used, others
}

// isUsedBy reports whether a call may use a prompt: a model call of the prompt's role, or of a
// node with that role, in the run or in an agent that it calls.
func isUsedBy(p *engine.Program, q engine.Prompt, call *runview.Item) bool {
	if call == nil || call.Kind != runview.ModelItem {
		return false
	}
	local := q.Name[strings.LastIndexByte(q.Name, '/')+1:]
	node, _, _ := strings.Cut(local, ".")
	isNested := local != q.Name
	return isNested == (call.Agent != "") && (node == call.Role || !isNested && p.TypeOf(node) == call.Role)
}

// valueOf returns the value of a name in a prompt, for people.
func valueOf(name string, parameters map[string]any, hidden *secret.Values) string {
	value, ok := parameters[strings.TrimPrefix(name, "parameters.")]
	switch {
	case strings.HasPrefix(name, "prompts."):
		return "the prompt below"
	case !ok:
		return "set at each call"
	}
	s, isText := value.(string)
	if !isText {
		s = string(jsonvalue.Encode(value))
	}
	if hidden != nil {
		s, _ = hidden.Text(s)
	}
	return line(s)
}

// editsIn returns the edited prompts of a form: those that differ from the prompts of the run.
func editsIn(form url.Values, p *engine.Program) map[string]string {
	texts := map[string]string{}
	for _, q := range p.AllPrompts() {
		texts[q.Name] = q.Text
	}
	out := map[string]string{}
	for field, typed := range form {
		name, ok := strings.CutPrefix(field, promptField)
		if text, known := texts[name]; ok && (!known || unixLines(text) != unixLines(typed[0])) {
			out[name] = unixLines(typed[0])
		}
	}
	return out
}

// unixLines undoes what browsers do to line ends.
func unixLines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// found is a diagnostic of the check of a fork.
type found struct{ Place, Severity, Message, Hint string }

func placeOf(file string, line, column int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s, line %d, column %d", file, line, column)
}
