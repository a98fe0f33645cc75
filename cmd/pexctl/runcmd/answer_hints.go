package runcmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/internal/app/fspath"
)

// redactedMark is the start of the text that replaces a secret.
const redactedMark = "[redacted"

// maxEditArgs is the maximum size in bytes of arguments that a suggested command
// repeats for editing.
const maxEditArgs = 160

// answerOptions returns the values of --answer that decide a question, the most
// common one first. Parts in capitals are placeholders.
func answerOptions(q interrupt.Question) []string {
	switch q.Kind {
	case interrupt.Review: // there is no safe default
		return []string{"done:JSON", "redo", "skip"}
	case interrupt.Human, interrupt.User:
		return []string{"TEXT"}
	case interrupt.Guard:
		return []string{"approve", "deny:WHY"}
	case interrupt.Approval, interrupt.Plan:
		return []string{"approve", "deny:WHY", editOption(q.Args)}
	case interrupt.Elicitation: // its arguments are the form to fill in
	}
	return []string{"approve", "deny:WHY", "edit:JSON"}
}

// optionLabels describe an option, by its first word.
var optionLabels = map[string]string{
	"approve": "To approve:", "deny": "To deny:", "edit": "To edit:", "TEXT": "To answer:",
	"done": "If it was done:", "redo": "To do it again:", "skip": "To skip it:",
}

func optionLabel(option string) string {
	word, _, _ := strings.Cut(option, ":")
	return optionLabels[word]
}

// editOption returns the answer that changes arguments. It repeats them if they
// are short and free of escapes and secrets.
func editOption(args json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, args) != nil || b.Len() > maxEditArgs || tty.Flat(b.String()) != b.String() || strings.Contains(b.String(), redactedMark) {
		return "edit:JSON"
	}
	return "edit:" + b.String()
}

// answerFlag returns the flag that answers a question.
func answerFlag(q interrupt.Question, answer string) string {
	return "--answer " + fspath.Quote(q.Path+"="+answer)
}

// resumeHint returns the commands that resume a waiting or suspended run, ready to
// be pasted.
func resumeHint(c *ui.Call, home string, res *engine.Result) []string {
	if res.Status != stop.RunInterrupted {
		return nil
	}
	resume := "pexctl resume " + res.RunID + project.HomeArgument(c, home)
	switch len(res.Interrupts) {
	case 0:
		return []string{"Resume: " + resume}
	case 1:
		return oneQuestion(resume, res.Interrupts[0])
	}
	return severalQuestions(resume, res.Interrupts)
}

// oneQuestion returns a command for each answer to the only open question.
func oneQuestion(resume string, q interrupt.Question) []string {
	options, wide := answerOptions(q), 0
	for _, answer := range options {
		wide = max(wide, len(optionLabel(answer)))
	}
	var lines []string
	for _, answer := range options {
		lines = append(lines, fmt.Sprintf("%-*s %s %s", wide, optionLabel(answer), resume, answerFlag(q, answer)))
	}
	return lines
}

// severalQuestions returns the command that answers several questions, and the
// alternatives to its values.
func severalQuestions(resume string, questions []interrupt.Question) []string {
	lines := []string{"To answer: " + resume}
	listed := map[string]bool{}
	for _, q := range questions {
		q.Args = nil // not repeated if there are several
		options := answerOptions(q)
		lines[0] += " " + answerFlag(q, options[0])
		if len(options) > 1 && !listed[strings.Join(options, " ")] {
			listed[strings.Join(options, " ")] = true
			lines = append(lines, fmt.Sprintf("  instead of %s: %s", options[0], ui.OneOf(options[1:])))
		}
	}
	return lines
}
