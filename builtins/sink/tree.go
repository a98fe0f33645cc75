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
	clock  func() time.Time
	behind time.Duration // how far the run's time is behind the clock's
	heard  bool          // an event came
	p      painter
	b      board
	drawn  []int // width of each line on the screen that the next picture replaces
	unseen bool  // the board has what was never drawn
	paused bool
	closed bool
}

var (
	_ engine.Sink     = (*Tree)(nil)
	_ engine.Recaller = (*Tree)(nil)
)

// NewTree draws on w, a terminal of the size that size tells. Without color it
// moves the cursor and nothing else.
func NewTree(w io.Writer, size func() (columns, rows int), now func() time.Time, color bool) *Tree {
	t := &Tree{w: w, size: size, clock: now}
	t.p = painter{now: t.now, color: color}
	return t
}

// now is the run's own time: what passed while nobody ran it is left out.
func (t *Tree) now() time.Time { return t.clock().Add(-t.behind) }

// take takes an event over; ok is false for one that is not shown.
func (t *Tree) take(ev engine.Event) (shown engine.Event, ok bool) {
	if ev.Type != engine.ModelDelta && ev.Type != engine.ToolProgress { // those come with the machine's time
		if behind := t.clock().Sub(ev.At); !t.heard || behind < t.behind {
			t.behind, t.heard = behind, true
		}
	}
	if ev, ok = outer(ev); ok {
		t.b.apply(ev)
	}
	return ev, ok
}

// Recall takes over what an earlier session told; the next picture shows it.
func (t *Tree) Recall(ev engine.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.take(ev); ok {
		t.unseen = true
	}
}

// Send takes an event over and draws, except for deltas, which the next Tick draws.
func (t *Tree) Send(ev engine.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ev, ok := t.take(ev)
	if !ok {
		return
	}
	switch ev.Type {
	case engine.ModelDelta, engine.ToolProgress, engine.InterruptRaised:
		return
	case engine.RunCompleted:
		t.finish(t.p.ink(dim, ending(ev, t.b.usage)) + "\n\n")
		return
	default:
	}
	if text := remark(ev); text != "" {
		t.draw(t.p.ink(yellow, t.note(text)))
		return
	}
	t.draw()
}

// Tick redraws; call it a few times a second.
func (t *Tree) Tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.p.frame++
	if len(t.drawn) > 0 || t.unseen {
		t.draw()
	}
}

// Note writes a line of the program's own that stays, above the picture.
func (t *Tree) Note(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		t.write(flat(text) + "\n")
		return
	case t.paused: // the cursor stands behind a question
		t.write("\n" + flat(text) + "\n")
		return
	}
	t.draw(t.note(text))
}

// Pause lets the picture stand while f writes below it, a question for example
// that is answered best with the plan in sight, and draws on behind that.
// Meanwhile the run goes on.
func (t *Tree) Pause(f func()) {
	t.mu.Lock()
	t.draw()
	t.drawn, t.paused = nil, true
	t.mu.Unlock()
	f()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.paused = false
	t.draw()
}

// Close leaves the last picture standing and stops drawing.
func (t *Tree) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.drawn) > 0 || t.unseen {
		t.finish("")
	}
	t.closed = true
}

// note is a text of at most three lines of the screen.
func (t *Tree) note(text string) string {
	columns, _ := t.size()
	return OneLine(text, 3*max(columns, narrowest))
}

// finish draws the whole picture, also what is higher than the screen, and a
// last line.
func (t *Tree) finish(last string) {
	if t.closed {
		return
	}
	columns, _ := t.size()
	lines, _ := t.p.picture(&t.b, max(columns, narrowest), true)
	t.write(t.back() + over(lines) + "\x1b[J" + last)
	t.closed, t.drawn = true, nil
}

// narrowest is the width that pictures are made for at least.
const narrowest = 20

// draw replaces the picture, after lines that stay. It is one write, so that
// nothing flickers; lines that are too long after all are cut by the terminal.
func (t *Tree) draw(above ...string) {
	if t.closed || t.paused {
		return
	}
	t.unseen = false
	columns, rows := t.size()
	columns = max(columns, narrowest)
	most := max(rows-1, 5) // what scrolls away cannot be redrawn
	lines, moving := t.p.picture(&t.b, columns, true)
	if len(lines) > most {
		lines, moving = t.p.picture(&t.b, columns, false)
	}
	lines = t.p.crop(lines, moving, most)
	t.write(t.back() + over(above) + "\x1b[?7l" + over(lines) + "\x1b[?7h\x1b[J")
	t.drawn = t.drawn[:0]
	for _, line := range lines {
		t.drawn = append(t.drawn, min(Width(stripped(line)), columns))
	}
}

// over writes lines over others. The screen is not cleared before: it would
// flicker, and tmux keeps a cleared screen in its history.
func over(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line + "\x1b[K\n")
	}
	return b.String()
}

// back moves to the top of the picture.
func (t *Tree) back() string {
	if len(t.drawn) == 0 {
		return ""
	}
	return fmt.Sprintf("\r\x1b[%dA", t.height())
}

// height is how many lines of the screen the picture takes now: a terminal
// that became narrower has broken its lines.
func (t *Tree) height() int {
	columns, _ := t.size()
	n := 0
	for _, w := range t.drawn {
		n += max(1, (w+columns-1)/max(columns, 1))
	}
	return n
}

func (t *Tree) write(s string) {
	_, _ = io.WriteString(t.w, s) // a terminal that went away is not an error of the run
}
