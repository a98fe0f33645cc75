package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/app/apiclient"
)

// promptNext shows the next open question of the run, unless one is shown.
func (c *Chat) promptNext(ctx context.Context) {
	if c.waits != nil {
		if c.isAsked(c.waits.Path) {
			return
		}
		c.note("The question was answered elsewhere")
		c.waits = nil
	}
	for _, q := range c.turn.Open {
		if c.settled[q.Path] {
			continue
		}
		if !c.isStillOpen(ctx, q) { // an event of the past
			c.settled[q.Path] = true
			continue
		}
		c.waits = &q
		c.show(Question, ui.QuestionText(q)+Choices(q.Kind))
		return
	}
}

// isAsked reports whether the events show a question as open.
func (c *Chat) isAsked(path string) bool {
	return slices.ContainsFunc(c.turn.Open, func(q interrupt.Question) bool { return q.Path == path })
}

// isStillOpen asks the server whether a question is open. It is if the server does not say.
func (c *Chat) isStillOpen(ctx context.Context, q interrupt.Question) bool {
	res, _, err := c.o.Client.Result(ctx, c.run, false)
	return err != nil || slices.ContainsFunc(res.Interrupts, func(open interrupt.Question) bool { return open.Path == q.Path })
}

// Choices says how to answer a kind of questions, on one line.
func Choices(kind interrupt.Kind) string {
	switch kind {
	case interrupt.Human, interrupt.User:
		return "Type the answer."
	case interrupt.Guard:
		return "y = yes, n REASON = no"
	case interrupt.Review:
		return "It is unknown whether this call happened: done:JSON = it did, with this result; redo = make it again; skip = treat it as failed"
	default:
		return "y = yes, n REASON = no, e = edit, edit:JSON"
	}
}

// answer answers the question that is shown.
func (c *Chat) answer(ctx context.Context, line string) {
	q := *c.waits
	text, ok := c.decision(ctx, q, line)
	if !ok {
		return
	}
	if _, wrong := runs.ParseDecision(q.Kind, text); wrong != "" && hasShortForms(q.Kind) {
		c.problemf("%s: %s", wrong, Choices(q.Kind))
		return
	}
	body, wrong := apiclient.TypedAnswer(q.Kind, q.Path, text)
	if wrong != "" {
		c.problemf("%s", wrong)
		return
	}
	err := c.o.Client.Answer(ctx, c.run, body)
	switch {
	case apiclient.IsCode(err, apiclient.AlreadyDecided):
		c.note("The question was answered elsewhere")
	case err != nil:
		c.problem(err)
		return
	default:
		c.show(Said, line)
	}
	c.settled[q.Path], c.waits, c.answered = true, nil, true
	if !c.watching {
		c.openFeed(ctx)
	}
	c.promptNext(ctx)
}

// decision returns an answer in the form that the other commands accept: n and a reason, or e for
// the editor, are short forms of this package. ok is false if there is no answer.
func (c *Chat) decision(ctx context.Context, q interrupt.Question, line string) (answer string, ok bool) {
	if !hasShortForms(q.Kind) {
		return line, true
	}
	word, reason, _ := strings.Cut(line, " ")
	switch strings.ToLower(word) {
	case "n", "no", "deny":
		if reason = strings.TrimSpace(reason); reason != "" {
			return "n:" + reason, true
		}
	case "e", "edit":
		if reason == "" && q.Kind != interrupt.Guard {
			return c.edited(ctx, q)
		}
	}
	return line, true
}

// hasShortForms reports whether the answer to a kind of questions is a decision.
func hasShortForms(kind interrupt.Kind) bool {
	return kind == interrupt.Approval || kind == interrupt.Plan || kind == interrupt.Guard || kind == interrupt.Elicitation
}

// edited lets the person edit the arguments of a call, or a plan.
func (c *Chat) edited(ctx context.Context, q interrupt.Question) (answer string, ok bool) {
	var shown bytes.Buffer
	if json.Indent(&shown, q.Args, "", "  ") != nil {
		shown.Reset()
		shown.Write(q.Args)
	}
	text, err := c.o.Screen.Edit(ctx, "arguments.json", shown.String()+"\n")
	var compact bytes.Buffer
	switch {
	case err != nil:
		c.problemf("edit: %v", err)
	case strings.TrimSpace(text) == strings.TrimSpace(shown.String()):
		c.note("Nothing was changed; y approves the call as it is")
	case json.Compact(&compact, []byte(text)) != nil:
		c.problemf("the edited text is not JSON; the question is still open")
	default:
		return "edit:" + compact.String(), true
	}
	return "", false
}
