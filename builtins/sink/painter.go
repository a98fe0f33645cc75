package sink

import (
	"fmt"
	"strings"
	"time"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

// painter makes a picture of a board: lines of text for a terminal.
type painter struct {
	now   func() time.Time
	pen   tty.Pen
	frame int // of the spinner
}

var spinner = []string{"◐", "◓", "◑", "◒"}

func (p *painter) spin() string { return spinner[p.frame%len(spinner)] }

// picture draws everything, and says which is the last line that moves;
// results are the least important part of it.
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
			lines = append(lines, p.turnLine(t, "  ", columns))
			moving = len(lines) - 1
		}
	}
	return lines, moving
}

func (p *painter) head(b *board, columns int) string {
	var parts []string
	if b.version > 0 {
		parts = append(parts, fmt.Sprintf("plan v%d", b.version), fmt.Sprintf("%d/%d steps", b.done(), len(b.steps)))
	}
	if n := b.usage.Total(); n > 0 {
		parts = append(parts, tty.Amount(n)+" tok")
	}
	if !b.began.IsZero() {
		parts = append(parts, tty.Span(p.now().Sub(b.began)))
	}
	return p.spread(tty.Bold, "", b.spec, strings.Join(parts, " · "), columns)
}

// spread puts a mark and a text on the left, figures on the right of a line.
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
				out = append(out, p.turnLine(t, "      ", columns))
			}
		}
	case s.note != "":
		out = append(out, p.pen.Ink(tty.Red, "      "+tty.OneLine(s.note, columns-7)))
	case results && s.result != "":
		out = append(out, p.pen.Ink(tty.Dim, "      "+tty.OneLine(s.result, columns-7)))
	}
	return out
}

// turnLine is a model call under way, with the end of what it said so far.
func (p *painter) turnLine(t turn, indent string, columns int) string {
	text := t.role + " is thinking"
	if t.saying != "" {
		text = t.role + ": " + tty.Tail(t.saying, columns-len(indent)-len(t.role)-5)
	}
	return p.pen.Ink(tty.Dim, indent+p.spin()+" "+tty.OneLine(text, columns-len(indent)-3))
}

func (p *painter) toolLine(c toolRow, columns int) string {
	mark, color, right := "✗", tty.Red, c.status
	switch c.status {
	case "":
		mark, color = p.spin(), tty.Dim
	case string(tool.CallOK):
		mark, color, right = "✓", tty.Dim, tty.Span(c.took)
	}
	text := c.name
	if c.args != "" {
		text += " " + c.args
	}
	if c.note != "" { // why it failed matters more than all it was given
		text = tty.OneLine(text, columns/2) + ": " + c.note
	}
	text = tty.OneLine(text, columns-12-tty.Width(right))
	return p.pen.Ink(color, "      "+mark+" "+text+"  "+right)
}

// figures is a step's tools, tokens and time.
func (p *painter) figures(s *stepRow) string {
	var parts []string
	if s.attempts > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", s.attempts))
	}
	if len(s.tools) > 0 && s.status != plan.Running {
		parts = append(parts, text.Count(len(s.tools), "tool"))
	}
	if s.tokens > 0 {
		parts = append(parts, tty.Amount(s.tokens)+" tok")
	}
	switch {
	case s.status == plan.Running:
		parts = append(parts, tty.Span(p.now().Sub(s.began)))
	case s.took > 0:
		parts = append(parts, tty.Span(s.took))
	}
	return strings.Join(parts, " · ")
}

// crop keeps at most n lines: the head, and the part around the line that moves.
func (p *painter) crop(lines []string, moving, n int) []string {
	if len(lines) <= n {
		return lines
	}
	room := n - 2 // head and the mark below it
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
