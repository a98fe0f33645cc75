package turn

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/text"
)

// maxArgs is how many characters of arguments a line of progress shows.
const maxArgs = 120

// Line describes a change in one line, such as "s2 search_files {"query":"504"}", or returns
// "" if the change needs none. A plan has a line per step.
func (t *Turn) Line(c Change) string {
	switch c.Kind {
	case Planned:
		return t.planLine()
	case StepStarted:
		return c.Step.ID + ": " + text.OneLine(c.Step.Goal)
	case StepEnded:
		if c.Step.Error != "" {
			return fmt.Sprintf("%s %s: %s", c.Step.ID, c.Step.Status, text.OneLine(c.Step.Error))
		}
		return fmt.Sprintf("%s %s", c.Step.ID, c.Step.Status)
	case CallStarted:
		return strings.TrimSpace(strings.Join([]string{c.Call.Step, c.Call.Tool, text.Clip(text.OneLine(string(c.Call.Args)), maxArgs)}, " "))
	case CallEnded:
		if c.Call.OK() {
			return ""
		}
		return fmt.Sprintf("%s failed: %s", c.Call.Tool, text.Clip(text.OneLine(c.Call.Text), maxArgs))
	case CallProgress, Noted:
		return text.OneLine(c.Text)
	case Asked:
		return "Waiting for a decision: " + text.OneLine(About(*c.Question))
	default:
		return ""
	}
}

func (t *Turn) planLine() string {
	verb := "Plan"
	if t.Plans > 1 {
		verb = "New plan"
	}
	lines := []string{fmt.Sprintf("%s: %s", verb, text.Count(len(t.Steps), "step"))}
	for _, s := range t.Steps {
		lines = append(lines, fmt.Sprintf("- %s: %s", s.ID, text.OneLine(s.Goal)))
	}
	return strings.Join(lines, "\n")
}

// About says what a question is about, in one sentence.
func About(q interrupt.Question) string { return q.Summary() }

// Prompt asks a person in a chat to answer questions: what they are about, the arguments or
// the plan, and the replies that count.
func Prompt(open []interrupt.Question) string {
	var b strings.Builder
	for i, q := range open {
		if i > 0 {
			b.WriteString("\n\n")
		}
		if len(open) > 1 {
			fmt.Fprintf(&b, "[%s] ", q.Path)
		}
		b.WriteString(About(q))
		if len(q.Args) > 0 && string(q.Args) != "null" {
			fmt.Fprintf(&b, "\n\n```json\n%s\n```", indented(q.Args))
		}
	}
	b.WriteString("\n\n" + replies(open))
	return b.String()
}

// replies says what a person can reply.
func replies(open []interrupt.Question) string {
	if len(open) != 1 {
		return fmt.Sprintf("%d decisions are open. Reply to one with PATH=REPLY, such as %s=approve.", len(open), open[0].Path)
	}
	if open[0].Kind == interrupt.Review {
		return "It is unknown whether this call happened. Reply with done:<json> and its result, redo or skip."
	}
	if choices := runs.Choices(open[0].Kind); choices != "" {
		return "Reply with " + strings.ReplaceAll(choices, " | ", ", ") + "."
	}
	return "Reply with your answer."
}

func indented(args json.RawMessage) string {
	var v any
	if json.Unmarshal(args, &v) != nil {
		return string(args)
	}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return string(args)
	}
	return string(b)
}

// Outcome is the text that a conversation shows for a run that has ended; see
// engine.Result.Outcome.
func (t *Turn) Outcome() string {
	res := engine.Result{Status: t.Status, StopReason: t.Stop, Response: t.Answer}
	return res.Outcome()
}
