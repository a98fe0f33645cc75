package sink

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

// painter renders a board as lines of text for a terminal.
type painter struct {
	now   func() time.Time
	pen   tty.Pen
	frame int  // of the spinner
	brief bool // streamed answers are shown elsewhere
}

var spinner = []string{"◐", "◓", "◑", "◒"}

func (p *painter) spin() string { return spinner[p.frame%len(spinner)] }

// picture renders the whole board and returns the index of the last line that changes by
// itself. Without results it is shorter.
func (p *painter) picture(b *board, columns int, results bool) (lines []string, moving int) {
	lines = []string{p.head(b, columns)}
	for i := range b.steps {
		lines = append(lines, p.stepLines(b, &b.steps[i], columns, results)...)
		if b.steps[i].status == plan.Running {
			moving = len(lines) - 1
		}
	}
	for _, t := range b.turns {
		if t.step == "" {
			lines = append(lines, p.turnLines(t, "  ", columns, b.version == 0)...)
			moving = len(lines) - 1
		}
	}
	return lines, moving
}

// head renders the name of the agent, and as many metrics as fit.
func (p *painter) head(b *board, columns int) string {
	type figure struct {
		text string
		rank int // the metric with the lowest rank is omitted first
	}
	var parts []figure
	if b.version > 0 {
		parts = append(parts, figure{fmt.Sprintf("plan v%d", b.version), 0}, figure{fmt.Sprintf("%d/%d steps", b.done(), len(b.steps)), 4})
	}
	if n := b.usage.Total(); n > 0 {
		parts = append(parts, figure{text.Amount(n) + " tok", 1})
	}
	if b.usage.CostUSD > 0 {
		parts = append(parts, figure{money(b.usage.CostUSD), 3})
	}
	if !b.started.IsZero() {
		parts = append(parts, figure{text.Duration(p.now().Sub(b.started)), 2})
	}
	for name := min(tty.Width(tty.Flat(b.spec)), columns/2); ; {
		var texts []string
		for _, f := range parts {
			texts = append(texts, f.text)
		}
		figures := strings.Join(texts, " · ")
		if len(parts) == 0 || name+tty.Width(figures)+2 < columns {
			return p.spread(tty.Bold, "", b.spec, figures, columns)
		}
		least := slices.MinFunc(parts, func(a, b figure) int { return a.rank - b.rank })
		parts = slices.DeleteFunc(parts, func(f figure) bool { return f == least })
	}
}

// spread aligns a mark and a text left, and metrics right.
func (p *painter) spread(c tty.Ink, mark, text, figures string, columns int) string {
	text = tty.OneLine(text, columns-tty.Width(mark)-tty.Width(figures)-2)
	gap := strings.Repeat(" ", max(1, columns-tty.Width(mark)-tty.Width(text)-tty.Width(figures)-1))
	if mark == "" {
		text = p.pen.Ink(c, text)
	}
	return p.pen.Ink(c, mark) + text + gap + p.pen.Ink(tty.Dim, figures)
}

func (p *painter) stepLines(b *board, s *stepRow, columns int, results bool) []string {
	mark, color := glyph(s.status)
	running := s.status == plan.Running
	if running {
		mark = p.spin()
	}
	figures := p.figures(s)
	if tty.Width(figures) > columns/2 {
		figures = ""
	}
	out := []string{p.spread(color, fmt.Sprintf("  %s %s ", mark, tty.OneLine(s.id, columns/4)), s.goal, figures, columns)}
	switch {
	case running:
		for _, c := range s.tools {
			out = append(out, p.toolLine(c, columns))
		}
		for _, t := range b.turns {
			if t.step == s.id {
				out = append(out, p.turnLines(t, "      ", columns, false)...)
			}
		}
	case s.note != "":
		out = append(out, p.pen.Ink(tty.Red, "      "+tty.OneLine(s.note, columns-7)))
	case results && s.result != "":
		out = append(out, p.pen.Ink(tty.Dim, "      "+tty.OneLine(s.result, columns-7)))
	}
	return out
}

// turnLines renders a model call in flight with the end of its streamed text. Of JSON, it
// shows only the steps of a plan or the text of an answer. withSteps adds a line per
// step.
func (p *painter) turnLines(t turn, indent string, columns int, withSteps bool) []string {
	room := columns - len(indent) - 3
	json, isJSON := jsonIn(t.text)
	var d draft
	if isJSON {
		d = readDraft(json)
	}
	text, ink := t.role+" is thinking", tty.Dim
	switch {
	case t.retry != nil:
		text, ink = t.role+p.retry(t.retry), tty.Yellow
	case p.brief && t.step == "" && (d.result != "" || t.text != "" && !isJSON):
		text = t.role + " is answering"
	case d.result != "":
		text = t.role + ": " + tty.Tail(d.result, room-len(t.role)-2)
	case withSteps && isJSON:
		text = t.role + " is planning"
	case len(d.steps) > 0:
		text = fmt.Sprintf("%s is planning step %d: %s", t.role, len(d.steps), d.steps[len(d.steps)-1])
	case isJSON:
		text = t.role + " is writing"
	case t.text != "":
		text = t.role + ": " + tty.Tail(t.text, room-len(t.role)-2)
	}
	lines := []string{p.pen.Ink(ink, indent+p.spin()+" "+tty.OneLine(text, room))}
	if withSteps {
		for _, goal := range d.steps {
			lines = append(lines, p.pen.Ink(tty.Dim, "  ○ "+tty.OneLine(goal, columns-5)))
		}
	}
	return lines
}

// retry describes a failed call: it waits, or makes another attempt.
func (p *painter) retry(r *retry) string {
	wait := r.until.Sub(p.now())
	if wait <= 0 {
		return fmt.Sprintf(": attempt %d/%d after %s", r.Attempt, r.MaxAttempts, r.Error)
	}
	left := r.RetryEvent
	left.Wait = wait.Milliseconds()
	return ": " + retryText(&left)
}

func (p *painter) toolLine(c toolRow, columns int) string {
	mark, color, right := "✗", tty.Red, c.status
	switch c.status {
	case "":
		mark, color = p.spin(), tty.Dim
	case string(tool.CallOK):
		mark, color, right = "✓", tty.Dim, text.Duration(c.duration)
	}
	text := c.name
	if c.args != "" {
		text += " " + c.args
	}
	switch {
	case c.retry != nil && c.status == "":
		text, color = tty.OneLine(text, columns/3)+p.retry(c.retry), tty.Yellow
	case c.note != "": // the reason of a failure is more important than all arguments
		text = tty.OneLine(text, columns/2) + ": " + c.note
	}
	text = tty.OneLine(text, columns-12-tty.Width(right))
	return p.pen.Ink(color, "      "+mark+" "+text+"  "+right)
}

// figures formats a step's attempts, tool calls, tokens and duration.
func (p *painter) figures(s *stepRow) string {
	var parts []string
	if s.attempts > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", s.attempts))
	}
	if len(s.tools) > 0 && s.status != plan.Running {
		parts = append(parts, text.Count(len(s.tools), "tool"))
	}
	if s.tokens > 0 {
		parts = append(parts, text.Amount(s.tokens)+" tok")
	}
	switch {
	case s.status == plan.Running:
		parts = append(parts, text.Duration(p.now().Sub(s.started)))
	case s.duration > 0:
		parts = append(parts, text.Duration(s.duration))
	}
	return strings.Join(parts, " · ")
}

// crop returns at most n lines: the head, and those around the last one that changes.
func (p *painter) crop(lines []string, moving, n int) []string {
	if len(lines) <= n {
		return lines
	}
	room := n - 2 // the head and the ellipsis below it
	to := min(len(lines), max(moving+2, room+1))
	from := max(1, to-room)
	hidden := fmt.Sprintf("  … %d lines above, %d below", from-1, len(lines)-to)
	return append([]string{lines[0], p.pen.Ink(tty.Dim, hidden)}, lines[from:to]...)
}

func glyph(s plan.Status) (string, tty.Ink) {
	switch s {
	case "":
		return "○", tty.Dim
	case plan.OK:
		return "✓", tty.Green
	case plan.Skipped, plan.Cancelled:
		return "⊘", tty.Dim
	case plan.Running:
		return "◐", tty.Yellow
	default:
		return "✗", tty.Red
	}
}
