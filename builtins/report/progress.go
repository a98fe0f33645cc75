package report

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// Progress shows the progress of an evaluation. It is safe for concurrent use.
type Progress interface {
	Send(p trial.Progress)
	Note(text string) // a permanent line of text
	Close()           // shows the last progress sent
}

// Live draws progress in place on a terminal.
type Live struct {
	mu     sync.Mutex
	screen *tty.Canvas
	pen    tty.Pen
	name   string
	last   trial.Progress
	closed bool
}

var _ Progress = (*Live)(nil)

// NewLive draws on w, a terminal whose current size is returned by size. name is that of
// the suite.
func NewLive(w io.Writer, size func() (columns, rows int), name string, color bool) *Live {
	return &Live{screen: tty.NewCanvas(w, size), pen: tty.Pen{Color: color}, name: name}
}

// Send draws the progress.
func (l *Live) Send(p trial.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = p
	if !l.closed {
		l.screen.Draw(nil, l.picture())
	}
}

// Note writes a line above the progress.
func (l *Live) Note(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed, !l.screen.Drawn():
		l.screen.Write(tty.Flat(text) + "\n")
	default:
		l.screen.Draw([]string{tty.OneLine(text, 3*l.screen.Columns())}, l.picture())
	}
}

// Close draws the last progress and stops drawing.
func (l *Live) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed && l.screen.Drawn() {
		l.screen.Finish(l.picture(), "")
	}
	l.closed = true
}

// picture returns a progress bar, and the metrics that fit below it.
func (l *Live) picture() []string {
	p, columns := &l.last, l.screen.Columns()
	lines := []string{l.bar(columns)}
	line, used := " ", 1
	for _, f := range progressFigures(p) {
		gap := " · "
		if used == 1 {
			gap = " "
		}
		if used += tty.Width(gap + f.text); used >= columns {
			break
		}
		line += l.pen.Ink(tty.Dim, gap) + l.pen.Ink(f.ink, f.text)
	}
	lines = append(lines, line)
	if p.Note != "" {
		lines = append(lines, l.pen.Ink(tty.Yellow, "  "+tty.OneLine(p.Note, columns-3)))
	}
	return lines
}

// bar returns the name and the progress bar, with colored passed, failed and error parts.
func (l *Live) bar(columns int) string {
	p := &l.last
	done := tty.OneLine(countText(p), columns-1)
	name := tty.OneLine(l.name, columns-tty.Width(done)-3)
	left := columns - tty.Width(name) - tty.Width(done) - 5
	if p.Total <= 0 || left < 10 {
		return strings.TrimLeft(l.pen.Ink(tty.Bold, name)+"  "+done, " ")
	}
	wide := min(left, 40)
	var b strings.Builder
	drawn := 0
	for _, part := range []struct {
		upTo int
		ink  tty.Ink
		sign string
	}{{p.Passed, tty.Green, "█"}, {p.Passed + p.Failed, tty.Red, "█"}, {p.Trials, tty.Yellow, "█"}, {p.Total, tty.Dim, "░"}} {
		to := min(wide, wide*part.upTo/p.Total)
		b.WriteString(l.pen.Ink(part.ink, strings.Repeat(part.sign, max(0, to-drawn))))
		drawn = max(drawn, to)
	}
	return l.pen.Ink(tty.Bold, name) + "  " + b.String() + "  " + done
}

// countText formats the number of finished trials and the total.
func countText(p *trial.Progress) string {
	if p.Total <= 0 {
		return text.Count(p.Trials, "trial")
	}
	return fmt.Sprintf("%d/%d trials (%d%%)", p.Trials, p.Total, 100*p.Trials/p.Total)
}

// figureInk is a colored metric.
type figureInk struct {
	text string
	ink  tty.Ink
}

// progressFigures returns the known metrics, most important first.
func progressFigures(p *trial.Progress) []figureInk {
	var out []figureInk
	add := func(ink tty.Ink, when bool, format string, args ...any) {
		if when {
			out = append(out, figureInk{fmt.Sprintf(format, args...), ink})
		}
	}
	graded := p.Passed + p.Failed
	if graded > 0 {
		add("", true, "%s passed", report.Percent(float64(p.Passed)/float64(graded)))
	}
	add(tty.Red, p.Failed > 0, "%d failed", p.Failed)
	add(tty.Yellow, p.Error > 0, "%d %s", p.Error, text.Plural(p.Error, "error"))
	add("", p.Left > 0, "%s left", text.Duration(p.Left))
	add("", p.Cost > 0, "%s", dollars(p.Cost))
	add(tty.Dim, p.Rate > 0, "%.1f/s", p.Rate)
	add(tty.Dim, p.InFlight > 0, "%d in flight", p.InFlight)
	add(tty.Dim, p.Tokens > 0, "%s tokens", text.Amount(p.Tokens))
	add(tty.Dim, p.Elapsed > 0, "%s", text.Duration(p.Elapsed))
	return out
}
