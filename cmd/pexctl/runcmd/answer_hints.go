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

// hiddenSecret begins what replaces a secret.
const hiddenSecret = "[redacted"

// shortEdit is how many bytes of arguments a command repeats for a person to
// change them.
const shortEdit = 160

// answerOptions are the values of --answer that decide a question, the usual one
// first. What is in capitals is for the person to write.
func answerOptions(q interrupt.Question) []string {
	switch q.Kind {
	case interrupt.Review: // none of them is safe to give without a look
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

// editOption is the answer that gives other arguments: these, to be changed,
// where they are short and shown as they are.
func editOption(args json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, args) != nil || b.Len() > shortEdit || tty.Flat(b.String()) != b.String() || strings.Contains(b.String(), hiddenSecret) {
		return "edit:JSON"
	}
	return "edit:" + b.String()
}

// answerFlag is the flag that gives a question an answer.
func answerFlag(q interrupt.Question, answer string) string {
	return "--answer " + fspath.Quote(q.Path+"="+answer)
}

// resumeHint says how to resume a run that waits, in commands that can be pasted.
func resumeHint(c *ui.Call, home string, res *engine.Result) []string {
	if res.Status != stop.RunInterrupted {
		return nil
	}
	resume := "pexctl resume " + res.RunID + project.HomeArgument(c, home)
	switch len(res.Interrupts) {
	case 0:
		return []string{"go on: " + resume}
	case 1:
		return oneQuestion(resume, res.Interrupts[0])
	}
	return severalQuestions(resume, res.Interrupts)
}

// oneQuestion is a command for each answer to the only question.
func oneQuestion(resume string, q interrupt.Question) []string {
	var lines []string
	for i, answer := range answerOptions(q) {
		word := "go on:"
		if i > 0 {
			word = "   or:"
		}
		lines = append(lines, fmt.Sprintf("%s %s %s", word, resume, answerFlag(q, answer)))
	}
	return lines
}

// severalQuestions is the command that answers several questions, and what may be
// written in it instead.
func severalQuestions(resume string, questions []interrupt.Question) []string {
	lines := []string{"go on: " + resume}
	listed := map[string]bool{}
	for _, q := range questions {
		q.Args = nil // of several, none is repeated
		all := answerOptions(q)
		lines[0] += " " + answerFlag(q, all[0])
		if len(all) > 1 && !listed[strings.Join(all, " ")] {
			listed[strings.Join(all, " ")] = true
			lines = append(lines, fmt.Sprintf("   or, instead of %s: %s", all[0], strings.Join(all[1:], ", ")))
		}
	}
	return lines
}
