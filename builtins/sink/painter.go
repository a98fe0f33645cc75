package sink

import (
	"fmt"
	"strings"
	"time"

	"github.com/pexctl/pex/engine"
)

// painter makes a picture of a board: lines of text for a terminal.
type painter struct {
	now   func() time.Time
	color bool
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
		if b.steps[i].status == engine.StepRunning {
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
		parts = append(parts, amount(n)+" tok")
	}
	if !b.began.IsZero() {
		parts = append(parts, Span(p.now().Sub(b.began)))
	}
	return p.spread(bold, "", b.spec, strings.Join(parts, " · "), columns)
}

// spread puts a mark and a text on the left, figures on the right of a line.
func (p *painter) spread(c ink, mark, text, figures string, columns int) string {
	text = OneLine(text, columns-Width(mark)-Width(figures)-2)
	gap := strings.Repeat(" ", max(1, columns-Width(mark)-Width(text)-Width(figures)-1))
	if mark == "" {
		text = p.ink(c, text)
	}
	return p.ink(c, mark) + text + gap + p.ink(dim, figures)
}

func (p *painter) stepLines(b *board, s *stepRow, columns int, results bool) []string {
	mark, color := glyph(s.status)
	running := s.status == engine.StepRunning
	if running {
		mark = p.spin()
	}
	figures := p.figures(s)
	if Width(figures) > columns/2 {
		figures = ""
	}
	out := []string{p.spread(color, fmt.Sprintf("  %s %s ", mark, OneLine(s.id, columns/4)), s.goal, figures, columns)}
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
		out = append(out, p.ink(red, "      "+OneLine(s.note, columns-7)))
	case results && s.result != "":
		out = append(out, p.ink(dim, "      "+OneLine(s.result, columns-7)))
	}
	return out
}

// turnLine is a model call under way, with the end of what it said so far.
func (p *painter) turnLine(t turn, indent string, columns int) string {
	text := t.role + " is thinking"
	if t.saying != "" {
		text = t.role + ": " + tail(t.saying, columns-len(indent)-len(t.role)-5)
	}
	return p.ink(dim, indent+p.spin()+" "+OneLine(text, columns-len(indent)-3))
}

func (p *painter) toolLine(c toolRow, columns int) string {
	mark, color, right := "✗", red, c.status
	switch c.status {
	case "":
		mark, color = p.spin(), dim
	case string(engine.CallOK):
		mark, color, right = "✓", dim, Span(c.took)
	}
	text := c.name
	if c.args != "" {
		text += " " + c.args
	}
	if c.note != "" { // why it failed matters more than all it was given
		text = OneLine(text, columns/2) + ": " + c.note
	}
	text = OneLine(text, columns-12-Width(right))
	return p.ink(color, "      "+mark+" "+text+"  "+right)
}

// figures is a step's tools, tokens and time.
func (p *painter) figures(s *stepRow) string {
	var parts []string
	if s.attempts > 1 {
		parts = append(parts, fmt.Sprintf("attempt %d", s.attempts))
	}
	if len(s.tools) > 0 && s.status != engine.StepRunning {
		parts = append(parts, plural(len(s.tools), "tool"))
	}
	if s.tokens > 0 {
		parts = append(parts, amount(s.tokens)+" tok")
	}
	switch {
	case s.status == engine.StepRunning:
		parts = append(parts, Span(p.now().Sub(s.began)))
	case s.took > 0:
		parts = append(parts, Span(s.took))
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
	return append([]string{lines[0], p.ink(dim, hidden)}, lines[from:to]...)
}

// ink is how a text is written.
type ink string

const (
	bold   ink = "\x1b[1m"
	dim    ink = "\x1b[2m"
	red    ink = "\x1b[31m"
	green  ink = "\x1b[32m"
	yellow ink = "\x1b[33m"
	reset      = "\x1b[0m"
)

func (p *painter) ink(c ink, s string) string {
	if !p.color || s == "" {
		return s
	}
	return string(c) + s + reset
}

// stripped is a line without what ink put into it.
var stripped = strings.NewReplacer(string(bold), "", string(dim), "", string(red), "", string(green), "", string(yellow), "", reset, "").Replace

func glyph(s engine.StepStatus) (string, ink) {
	switch s {
	case "":
		return "○", dim
	case engine.StepOK:
		return "✓", green
	case engine.StepSkipped, engine.StepCancelled:
		return "⊘", dim
	case engine.StepRunning:
		return "◐", yellow
	default:
		return "✗", red
	}
}
