package sink

import (
	"io"
	"sync"
	"time"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine"
)

// Tree draws plan, steps and tools in place on a terminal. Tick redraws the
// running times; Close leaves the last picture standing. Safe for concurrent
// use.
type Tree struct {
	mu     sync.Mutex
	screen *tty.Canvas
	clock  func() time.Time
	behind time.Duration // how far the run's time is behind the clock's
	heard  bool          // an event came
	p      painter
	b      board
	unseen bool // the board has what was never drawn
	paused bool
	closed bool
}

var (
	_ engine.Sink       = (*Tree)(nil)
	_ engine.ReplaySink = (*Tree)(nil)
)

// NewTree draws on w, a terminal of the size that size tells. Without color it
// moves the cursor and nothing else.
func NewTree(w io.Writer, size func() (columns, rows int), now func() time.Time, color bool) *Tree {
	t := &Tree{screen: tty.NewCanvas(w, size), clock: now}
	t.p = painter{now: t.now, pen: tty.Pen{Color: color}}
	return t
}

// now is the run's own time: what passed while nobody ran it is left out.
func (t *Tree) now() time.Time { return t.clock().Add(-t.behind) }

// take takes an event over; ok is false for one that is not shown.
func (t *Tree) take(ev engine.Event) (shown engine.Event, ok bool) {
	if !ev.Type.Transient() { // those come with the machine's time
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
		t.finish(t.p.pen.Ink(tty.Dim, ending(ev, t.b.usage)) + "\n\n")
		return
	default:
	}
	if text := Remark(ev); text != "" {
		t.draw(t.p.pen.Ink(tty.Yellow, t.note(text)))
		return
	}
	t.draw()
}

// Tick redraws; call it a few times a second.
func (t *Tree) Tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.p.frame++
	if t.screen.Standing() || t.unseen {
		t.draw()
	}
}

// Note writes a line of the program's own that stays, above the picture.
func (t *Tree) Note(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		t.screen.Write(tty.Flat(text) + "\n")
		return
	case t.paused: // the cursor stands behind a question
		t.screen.Write("\n" + tty.Flat(text) + "\n")
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
	t.screen.Leave()
	t.paused = true
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
	if t.screen.Standing() || t.unseen {
		t.finish("")
	}
	t.closed = true
}

// note is a text of at most three lines of the screen.
func (t *Tree) note(text string) string {
	return tty.OneLine(text, 3*t.screen.Columns())
}

// finish draws the whole picture, also what is higher than the screen, and a
// last line.
func (t *Tree) finish(last string) {
	if t.closed {
		return
	}
	lines, _ := t.p.picture(&t.b, t.screen.Columns(), true)
	t.screen.Finish(lines, last)
	t.closed = true
}

// draw replaces the picture, after lines that stay.
func (t *Tree) draw(above ...string) {
	if t.closed || t.paused {
		return
	}
	t.unseen = false
	columns, most := t.screen.Columns(), t.screen.Rows()
	lines, moving := t.p.picture(&t.b, columns, true)
	if len(lines) > most {
		lines, moving = t.p.picture(&t.b, columns, false)
	}
	t.screen.Draw(above, t.p.crop(lines, moving, most))
}

// outer is what an event tells of the run itself. Of an agent within it only
// what it consumes, and what a person must know, is shown: its plan and steps
// would stand among the run's own. JSONL has them all.
func outer(ev engine.Event) (engine.Event, bool) {
	if ev.Agent == "" {
		return ev, true
	}
	switch ev.Type {
	case engine.PlanCreated, engine.StepStartedEvent, engine.StepCompleted, engine.ReflectCompleted,
		engine.ModelStarted, engine.ModelDelta, engine.ToolStarted, engine.ToolProgress:
		return ev, false
	default:
		ev.Step = nil
		return ev, true
	}
}
