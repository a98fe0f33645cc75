package sink

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/text"
)

// NewVerbose returns a Lines that also writes the start of each step and tool call, the
// metrics of each model call and the decisions of reflectors. Each line starts with the
// time since the log was opened.
func NewVerbose(w io.Writer, now func() time.Time) *Lines {
	return &Lines{w: w, now: now, opened: now()}
}

// elapsed is the prefix of a verbose line.
func (l *Lines) elapsed() string {
	if l.now == nil {
		return ""
	}
	return fmt.Sprintf("%8.3fs  ", l.now().Sub(l.opened).Seconds())
}

// details writes the lines that only a verbose log has.
func (l *Lines) details(ev engine.Event) {
	switch ev.Type {
	case engine.StepStartedEvent:
		again := ""
		if ev.Step.Attempts > 1 {
			again = fmt.Sprintf(" (attempt %d)", ev.Step.Attempts)
		}
		l.print("%s started%s: %s", tty.Flat(ev.Step.ID), again, tty.OneLine(ev.Step.Goal, lineWidth))
	case engine.ModelStarted:
		l.print("  %s%s calls llm %s", stepPrefix(ev), ev.Role, ev.Model)
	case engine.ModelCompleted:
		l.print("  %s%s", stepPrefix(ev), modelFigures(ev))
	case engine.ToolStarted:
		l.print("  %scalls %s", stepPrefix(ev), tty.OneLine(ev.Tool+" "+argsText(ev.Args), lineWidth))
	case engine.ReflectCompleted:
		if ev.Text == "" {
			l.print("%s: no answer yet", ev.By)
			return
		}
		l.print("%s: answered: %s", ev.By, tty.OneLine(ev.Text, lineWidth))
	case engine.ToolProgress:
		l.print("  %s", tty.OneLine(ev.Tool+": "+ev.Text, lineWidth))
	default:
	}
}

func stepPrefix(ev engine.Event) string {
	if ev.Step == nil {
		return ""
	}
	return tty.Flat(ev.Step.ID) + " "
}

// modelFigures describes a model call that ended.
func modelFigures(ev engine.Event) string {
	if ev.Status == string(model.Interrupted) {
		return fmt.Sprintf("%s: a message interrupted llm %s after %s", ev.Role, ev.Model, text.Duration(milliseconds(ev.Duration)))
	}
	if e := ev.Error; e != nil {
		return fmt.Sprintf("%s: llm %s failed after %s: %s: %s", ev.Role, ev.Model, text.Duration(milliseconds(ev.Duration)), e.Kind, tty.OneLine(e.Message, lineWidth))
	}
	parts := []string{text.Duration(milliseconds(ev.Duration))}
	if ev.FirstToken > 0 {
		parts = append(parts, "first token after "+text.Duration(milliseconds(ev.FirstToken)))
	}
	if ev.Usage != nil {
		parts = append(parts, fmt.Sprintf("%d tokens in, %d out", ev.Usage.Input, ev.Usage.Output))
	}
	if ev.CostUSD > 0 {
		parts = append(parts, money(ev.CostUSD))
	}
	if ev.Message != nil && len(ev.Message.Calls) > 0 {
		parts = append(parts, text.Count(len(ev.Message.Calls), "tool call"))
	}
	return fmt.Sprintf("%s: llm %s replied (%s)", ev.Role, ev.Model, strings.Join(parts, ", "))
}
