package sink

import (
	"strings"
	"sync"
	"time"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine"
)

// picture is the state of a run, and how it is drawn.
type picture struct {
	clock   func() time.Time
	lag     time.Duration // how far the run's time is behind the clock
	started bool          // an event was received
	p       painter
	b       board
}

func (t *picture) init(now func() time.Time, color bool) {
	t.clock = now
	t.p = painter{now: t.now, pen: tty.Pen{Color: color}}
}

// now is the run's own time, which excludes the time between sessions.
func (t *picture) now() time.Time { return t.clock().Add(-t.lag) }

// apply updates the board; ok is false for an event that is not shown.
func (t *picture) apply(ev engine.Event) (shown engine.Event, ok bool) {
	if ev.Type.Transient() { // its time is the machine's
		ev.At = ev.At.Add(-t.lag)
	} else if lag := t.clock().Sub(ev.At); !t.started || lag < t.lag {
		t.lag, t.started = lag, true
	}
	if ev, ok = ownEvent(ev); ok {
		t.b.apply(ev)
	}
	return ev, ok
}

// Picture is what a Tree draws, for a screen with other parts. It is safe for concurrent use.
type Picture struct {
	mu     sync.Mutex
	pic    picture
	remark func(string)
	last   string // how the run ended; "" = it has not
}

var _ engine.Sink = (*Picture)(nil)

// NewPicture returns the Picture of a run without events. remark receives what a Tree writes above
// its picture; nil = nothing.
func NewPicture(now func() time.Time, color bool, remark func(string)) *Picture {
	p := &Picture{remark: remark}
	p.pic.init(now, color)
	p.pic.b.whole, p.pic.p.brief = true, true
	return p
}

// Send applies an event.
func (p *Picture) Send(ev engine.Event) {
	p.mu.Lock()
	ev, ok := p.pic.apply(ev)
	said := ""
	switch {
	case !ok, ev.Type == engine.InterruptRaised, ev.Type == engine.MessageReceivedEvent:
	case ev.Type == engine.RunCompleted:
		p.last = ending(ev, p.pic.b.usage)
	case (ev.Type == engine.ModelRetrying || ev.Type == engine.ToolRetrying) && p.pic.b.waits(ev): // drawn with its call
	default:
		said = Remark(ev)
	}
	p.mu.Unlock()
	if said != "" && p.remark != nil {
		p.remark(said)
	}
}

// Lines returns at most rows lines of at most columns. Each call advances the spinner.
func (p *Picture) Lines(columns, rows int) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if columns = max(columns, minWidth); rows < 1 || !p.pic.started {
		return nil
	}
	p.pic.p.frame++
	lines, moving := p.pic.p.picture(&p.pic.b, columns, true)
	if len(lines) > rows {
		lines, moving = p.pic.p.picture(&p.pic.b, columns, false)
	}
	if rows < 3 {
		return lines[:min(rows, len(lines))]
	}
	return p.pic.p.crop(lines, moving, rows)
}

// Final returns all lines, and how the run ended.
func (p *Picture) Final(columns int) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines, _ := p.pic.p.picture(&p.pic.b, max(columns, minWidth), true)
	return append(lines, p.pic.p.pen.Ink(tty.Dim, tty.Flat(p.last)))
}

// Draft returns the part of the answer that has been streamed so far.
func (p *Picture) Draft() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.pic.b.turns) - 1; i >= 0; i-- {
		t := &p.pic.b.turns[i]
		if t.step != "" || strings.TrimSpace(t.text) == "" {
			continue
		}
		if json, ok := jsonIn(t.text); ok {
			return readDraft(json).result
		}
		return t.whole
	}
	return ""
}
