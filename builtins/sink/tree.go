package sink

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/pexctl/pex/engine"
)

// Tree draws plan, steps and tools in place on a terminal. Tick redraws the
// running times; Close leaves the last picture standing. Safe for concurrent
// use.
type Tree struct {
	mu     sync.Mutex
	w      io.Writer
	size   func() (columns, rows int)
	now    func() time.Time
	color  bool
	b      board
	drawn  int // lines on the screen that the next picture replaces
	frame  int
	closed bool
}

var _ engine.Sink = (*Tree)(nil)

// NewTree draws on w, a terminal of the size that size tells.
func NewTree(w io.Writer, size func() (columns, rows int), now func() time.Time, color bool) *Tree {
	return &Tree{w: w, size: size, now: now, color: color}
}

// Send takes an event over and draws, except for deltas, which the next Tick draws.
func (t *Tree) Send(ev engine.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b.apply(ev)
	switch ev.Type {
	case engine.ModelDelta, engine.ToolProgress:
		return
	case engine.GuardFired:
		t.above(fmt.Sprintf("guard %s: %s %s", ev.Guard.Name, ev.Guard.Do, ev.Guard.Message))
	case engine.LimitReached:
		t.above(fmt.Sprintf("stopping: %s (%s)", ev.Stop.Message, ev.Stop.Path))
	case engine.Warning:
		t.above("warning: " + ev.Text)
	case engine.RunCompleted:
		t.b.usage = *ev.Totals
		t.draw()
		t.finish(ev)
		return
	}
	t.draw()
}

// Tick redraws; call it a few times a second.
func (t *Tree) Tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.frame++
	if t.drawn > 0 {
		t.draw()
	}
}

// Pause takes the picture off the screen while f writes there, a question for
// example, and draws it again after.
func (t *Tree) Pause(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.erase()
	f()
	t.draw()
}

// Close stops drawing.
func (t *Tree) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed, t.drawn = true, 0
}

// above writes a line that stays, over the picture.
func (t *Tree) above(line string) {
	t.erase()
	columns, _ := t.size()
	t.write(t.paint(yellow, oneLine(line, columns*3)) + "\n")
}

func (t *Tree) finish(ev engine.Event) {
	t.write(t.paint(dim, fmt.Sprintf("%s in %s, %s", ev.Stop.Code, span(time.Duration(ev.Duration)*time.Millisecond), tally(t.b.usage))) + "\n\n")
	t.closed, t.drawn = true, 0
}

func (t *Tree) erase() {
	if t.drawn > 0 {
		t.write(fmt.Sprintf("\x1b[%dA\x1b[J", t.drawn))
		t.drawn = 0
	}
}

func (t *Tree) draw() {
	if t.closed {
		return
	}
	columns, rows := t.size()
	lines := t.lines(max(columns, 20))
	if most := max(rows-1, 5); len(lines) > most { // what scrolled away cannot be redrawn
		lines = append([]string{t.paint(dim, fmt.Sprintf("… %d lines above", len(lines)-most+1))}, lines[len(lines)-most+1:]...)
	}
	t.erase()
	t.write(strings.Join(lines, "\n") + "\n")
	t.drawn = len(lines)
}

func (t *Tree) write(s string) {
	_, _ = io.WriteString(t.w, s) // a terminal that went away is not an error of the run
}

// lines is the picture.
func (t *Tree) lines(columns int) []string {
	head := t.b.spec
	if t.b.version > 0 {
		head += fmt.Sprintf("  plan v%d", t.b.version)
	}
	out := []string{t.paint(bold, head)}
	for i := range t.b.steps {
		out = append(out, t.stepLines(&t.b.steps[i], columns)...)
	}
	if t.b.role != "" {
		text := t.b.role + " is thinking"
		if t.b.saying != "" {
			text = t.b.role + ": " + tail(t.b.saying, columns-len(t.b.role)-6)
		}
		out = append(out, t.paint(dim, "  "+spinner[t.frame%len(spinner)]+" "+text))
	}
	return out
}

func (t *Tree) stepLines(s *stepRow, columns int) []string {
	mark, color := glyph(s.status)
	if s.status == engine.StepRunning {
		mark = spinner[t.frame%len(spinner)]
	}
	right := t.figures(s)
	left := fmt.Sprintf("  %s %s ", mark, s.id)
	goal := oneLine(s.goal, columns-width(left)-width(right)-2)
	gap := strings.Repeat(" ", max(1, columns-width(left)-width(goal)-width(right)-1))
	out := []string{t.paint(color, left) + goal + gap + t.paint(dim, right)}
	if s.status != engine.StepRunning {
		if s.note != "" {
			out = append(out, t.paint(red, "      "+oneLine(s.note, columns-7)))
		}
		return out
	}
	for _, c := range s.tools {
		out = append(out, t.toolLine(c, columns))
	}
	return out
}

func (t *Tree) toolLine(c toolRow, columns int) string {
	mark, color := "·", dim
	right := ""
	switch c.status {
	case "":
	case string(engine.CallOK):
		mark, right = "✓", span(c.took)
	default:
		mark, color, right = "✗", red, c.status
	}
	text := c.name
	if c.args != "" {
		text += " " + c.args
	}
	if c.note != "" {
		text += " — " + c.note
	}
	text = oneLine(text, columns-12-width(right))
	return t.paint(color, "      "+mark+" "+text+"  "+right)
}

// figures is a step's tools, tokens and time.
func (t *Tree) figures(s *stepRow) string {
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
		parts = append(parts, span(t.now().Sub(s.began)))
	case s.took > 0:
		parts = append(parts, span(s.took))
	}
	return strings.Join(parts, " · ")
}

var spinner = []string{"◐", "◓", "◑", "◒"}

type paint string

const (
	bold   paint = "\x1b[1m"
	dim    paint = "\x1b[2m"
	red    paint = "\x1b[31m"
	green  paint = "\x1b[32m"
	yellow paint = "\x1b[33m"
	plain  paint = ""
)

func (t *Tree) paint(p paint, s string) string {
	if !t.color || p == plain {
		return s
	}
	return string(p) + s + "\x1b[0m"
}

func glyph(s engine.StepStatus) (string, paint) {
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

// tail is the end of a text on one line, in n columns.
func tail(s string, n int) string {
	s = strings.Join(strings.Fields(Safe(s)), " ")
	r := []rune(s)
	for used, i := 0, len(r)-1; i >= 0; i-- {
		if used += columns(r[i]); used > n-1 {
			return "…" + string(r[i+1:])
		}
	}
	return s
}
