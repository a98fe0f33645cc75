package sink

import (
	"io"
	"sync"
	"time"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine"
)

// Tree draws plan, steps and tools in place on a terminal. Tick redraws the elapsed
// times; Close leaves the last picture on the screen. It is safe for concurrent use.
type Tree struct {
	mu     sync.Mutex
	screen *tty.Canvas
	picture
	dirty  bool // the board has changes that have not been drawn
	paused bool
	closed bool
}

var (
	_ engine.Sink       = (*Tree)(nil)
	_ engine.ReplaySink = (*Tree)(nil)
)

// NewTree returns a Tree that draws on w, a terminal whose size is size(). Without color,
// the only escape sequences it writes move the cursor.
func NewTree(w io.Writer, size func() (columns, rows int), now func() time.Time, color bool) *Tree {
	t := &Tree{screen: tty.NewCanvas(w, size)}
	t.init(now, color)
	return t
}

// Replay applies an event of an earlier session; the next picture shows it.
func (t *Tree) Replay(ev engine.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.apply(ev); ok {
		t.dirty = true
	}
}

// Send applies an event and draws, except for deltas, which the next Tick draws.
func (t *Tree) Send(ev engine.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ev, ok := t.apply(ev)
	if !ok {
		return
	}
	switch ev.Type {
	case engine.ModelDelta, engine.ToolProgress, engine.InterruptRaised:
		return
	case engine.RunCompleted:
		t.finish(t.p.pen.Ink(tty.Dim, ending(ev, t.b.usage)) + "\n\n")
		return
	case engine.ModelRetrying, engine.ToolRetrying:
		if t.b.waits(ev) { // drawn with its call
			t.draw()
			return
		}
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
	if t.screen.Drawn() || t.dirty {
		t.draw()
	}
}

// Note writes a message of the program above the picture, where it stays.
func (t *Tree) Note(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		t.screen.Write(tty.Flat(text) + "\n")
		return
	case t.paused: // the cursor is after a question
		t.screen.Write("\n" + tty.Flat(text) + "\n")
		return
	}
	t.draw(t.note(text))
}

// Pause draws the current picture and leaves it on the screen while f writes below
// it, a question for example, and then draws a new picture below that. The run
// continues meanwhile.
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

// Close leaves the last picture on the screen and stops drawing.
func (t *Tree) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.screen.Drawn() || t.dirty {
		t.finish("")
	}
	t.closed = true
}

// note truncates a text to three lines of the screen.
func (t *Tree) note(text string) string {
	return tty.OneLine(text, 3*t.screen.Columns())
}

// finish draws the whole picture, even one that is higher than the screen, and a
// last line.
func (t *Tree) finish(last string) {
	if t.closed {
		return
	}
	lines, _ := t.p.picture(&t.b, t.screen.Columns(), true)
	t.screen.Finish(lines, last)
	t.closed = true
}

// draw writes lines that stay, and replaces the picture below them.
func (t *Tree) draw(above ...string) {
	if t.closed || t.paused {
		return
	}
	t.dirty = false
	columns, most := t.screen.Columns(), t.screen.Rows()
	lines, moving := t.p.picture(&t.b, columns, true)
	if len(lines) > most {
		lines, moving = t.p.picture(&t.b, columns, false)
	}
	t.screen.Draw(above, t.p.crop(lines, moving, most))
}

// ownEvent returns the part of an event that is shown for the run itself. For a sub-agent,
// only usage and messages are shown, because its plan and steps would be mixed with those
// of the run. JSONL contains all events.
func ownEvent(ev engine.Event) (engine.Event, bool) {
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
