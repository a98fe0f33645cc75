package runtime

import (
	"github.com/pexctl/pex/engine"
)

// Emitter exports emitter for tests.
type Emitter struct{ e emitter }

// NewEmitter returns an emitter with one sink.
func NewEmitter(s engine.Sink) *Emitter { return &Emitter{e: emitter{sinks: []engine.Sink{s}}} }

// Next numbers an event.
func (e *Emitter) Next(replayed bool) int { return e.e.next(replayed) }

// Send sends an event whose records are durable.
func (e *Emitter) Send(ev engine.Event) { e.e.send(ev) }

// Transient sends a transient event.
func (e *Emitter) Transient(after int, ev engine.Event) { e.e.sendTransient(after, ev) }

// SegmentResult is the output of a tool call as the journal stores it.
type SegmentResult = segmentResult
