package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/internal/app/fspath"
)

// hiddenSecret begins what stands in place of a secret.
const hiddenSecret = "[redacted"

// shortEdit is how many bytes of arguments a command repeats for a person to
// change them.
const shortEdit = 160

// ways are the values of --answer that decide a question, the usual one first.
// What stands in capitals is for the person to write.
func ways(q engine.Question) []string {
	switch q.Kind {
	case engine.AskReview: // none of them is safe to give without a look
		return []string{"done:JSON", "redo", "skip"}
	case engine.AskHuman, engine.AskUser:
		return []string{"TEXT"}
	case engine.AskGuard:
		return []string{"approve", "deny:WHY"}
	case engine.AskApproval, engine.AskPlan:
		return []string{"approve", "deny:WHY", edit(q.Args)}
	case engine.AskElicitation: // its arguments are the form to fill in
	}
	return []string{"approve", "deny:WHY", "edit:JSON"}
}

// edit is the answer that gives other arguments: these, to be changed, where
// they are short and stand there as they are.
func edit(args json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, args) != nil || b.Len() > shortEdit || tty.Flat(b.String()) != b.String() || strings.Contains(b.String(), hiddenSecret) {
		return "edit:JSON"
	}
	return "edit:" + b.String()
}

// answering is the flag that gives a question an answer.
func answering(q engine.Question, answer string) string {
	return "--answer " + fspath.Quote(q.Path+"="+answer)
}

// goOn says how a run that waits goes on, in commands that can be pasted.
func goOn(c *ui.Call, home string, res *engine.Result) []string {
	if res.Status != engine.Interrupted {
		return nil
	}
	resume := "pexctl resume " + res.RunID + homeArgument(c, home)
	switch len(res.Interrupts) {
	case 0:
		return []string{"go on: " + resume}
	case 1:
		return each(resume, res.Interrupts[0])
	}
	return together(resume, res.Interrupts)
}

// each is a command for each answer to the only question.
func each(resume string, q engine.Question) []string {
	var lines []string
	for i, answer := range ways(q) {
		word := "go on:"
		if i > 0 {
			word = "   or:"
		}
		lines = append(lines, fmt.Sprintf("%s %s %s", word, resume, answering(q, answer)))
	}
	return lines
}

// together is the command that answers several questions, and what may be
// written in it instead.
func together(resume string, questions []engine.Question) []string {
	lines := []string{"go on: " + resume}
	told := map[string]bool{}
	for _, q := range questions {
		q.Args = nil // of several, none is repeated
		all := ways(q)
		lines[0] += " " + answering(q, all[0])
		if len(all) > 1 && !told[strings.Join(all, " ")] {
			told[strings.Join(all, " ")] = true
			lines = append(lines, fmt.Sprintf("   or, instead of %s: %s", all[0], strings.Join(all[1:], ", ")))
		}
	}
	return lines
}
