package runtime

import (
	"encoding/json"
	"sync"
	"time"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/jsonvalue"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/plan"
	"github.com/pexctl/pex/engine/runtime/redact"
	"github.com/pexctl/pex/engine/stop"
)

// emitter numbers events and sends them to the sinks one at a time. Journal events arrive
// from the kernel in order; deltas and progress arrive from effects in flight.
type emitter struct {
	sinks      []engine.Sink
	run        string
	lastIssued int // number of the last event; only the run's coroutines access it
	rewinds    int // change records applied so far; likewise
	decisions  int // decisions that events have reported; likewise

	mu       sync.Mutex
	lastSent int            // number of the last event sent, in this session or an earlier one
	pending  []pendingEvent // transient events waiting for the event before them
}

// pendingEvent is a transient event to send once the event numbered after was sent.
type pendingEvent struct {
	after int
	event engine.Event
}

func (e *emitter) enabled() bool { return len(e.sinks) > 0 }

// wantsReplay reports whether a sink wants the events of earlier sessions.
func (e *emitter) wantsReplay() bool {
	for _, s := range e.sinks {
		if _, ok := s.(engine.ReplaySink); ok {
			return true
		}
	}
	return false
}

// next returns the number of the next event. A replayed event was sent by an earlier
// session: it is counted and not sent again.
func (e *emitter) next(replayed bool) int {
	e.lastIssued++
	if replayed {
		e.mu.Lock()
		e.lastSent = e.lastIssued
		e.mu.Unlock()
	}
	return e.lastIssued
}

// replay sends an event of an earlier session to the sinks that want it.
func (e *emitter) replay(ev engine.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ev.V, ev.Run = engine.EventVersion, e.run
	for _, s := range e.sinks {
		if r, ok := s.(engine.ReplaySink); ok {
			r.Replay(ev)
		}
	}
}

// send sends an event whose records are durable, then the transient events that waited
// for it.
func (e *emitter) send(ev engine.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.deliver(ev)
	e.lastSent = ev.Seq
	waiting := e.pending[:0]
	for _, h := range e.pending {
		if h.after > e.lastSent {
			waiting = append(waiting, h)
			continue
		}
		e.deliver(h.event)
	}
	clear(e.pending[len(waiting):])
	e.pending = waiting
}

// sendTransient sends an event that is not journaled, once the event numbered after was
// sent.
func (e *emitter) sendTransient(after int, ev engine.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ev.At = time.Now()
	if after > e.lastSent {
		e.pending = append(e.pending, pendingEvent{after, ev})
		return
	}
	e.deliver(ev)
}

// transientSender returns a function that sends transient events of the named effect. It
// must be called when the effect is issued; the function is safe for concurrent use.
func (s *scope) transientSender(name string) func(engine.Event) {
	r := s.r
	if !r.emit.enabled() {
		return func(engine.Event) {}
	}
	path, started := joinPath(s.Path(), name), r.emit.lastIssued
	return func(ev engine.Event) {
		ev.Path, ev.Agent = path, r.agent
		r.emit.sendTransient(started, ev)
	}
}

// eventsDelivered returns a channel that is closed once the sinks have received all
// events so far.
func (s *scope) eventsDelivered() <-chan struct{} {
	done := make(chan struct{})
	if s.k.Replaying() {
		close(done)
	} else {
		s.k.Emit(func() { close(done) })
	}
	return done
}

// retryEvent returns ev with the details of a retry, redacted.
func retryEvent(ev engine.Event, e model.RetryEvent, masked redact.Mask) engine.Event {
	e.Error = masked.Text(e.Error)
	ev.Retry = &e
	return ev
}

func (e *emitter) deliver(ev engine.Event) {
	ev.V, ev.Run = engine.EventVersion, e.run
	for _, s := range e.sinks {
		s.Send(ev)
	}
}

// emitSuspended emits that the session ends before the run does.
func (r *run) emitSuspended() {
	if r.emit.enabled() && r.opts.Follow == nil && r.reason.Status == stop.RunInterrupted {
		r.emit.sendTransient(0, engine.Event{Type: engine.RunSuspended, Status: string(r.reason.Status), Stop: &r.reason})
	}
}

// event emits ev once the records before it are durable. During a replay only sinks that
// want replayed events receive it.
func (s *scope) event(ev engine.Event) {
	if !s.r.emit.enabled() {
		return
	}
	emit := s.r.emit
	replayed := s.k.Replaying() && s.r.opts.Follow == nil
	ev.Seq, ev.Rewinds = emit.next(replayed), emit.rewinds
	ev.Path, ev.Agent, ev.Program = joinPath(s.Path(), ev.Path), s.r.agent, s.r.program
	if made := s.r.root().decisions; len(made) > emit.decisions {
		ev.Decisions, emit.decisions = made[emit.decisions:len(made):len(made)], len(made)
	}
	ev.At = s.r.started.Add(s.k.Since())
	send := emit.send
	if replayed {
		send = emit.replay
	}
	s.k.Emit(func() { send(ev) })
}

// emitFact emits the event for a fact, if there is one.
func (s *scope) emitFact(f engine.Fact) {
	switch f := f.(type) {
	case engine.PlanAccepted:
		plan := s.r.state.Plan
		s.event(engine.Event{Type: engine.PlanCreated, By: f.By, Plan: &plan})
	case engine.StepStarted:
		s.event(engine.Event{Type: engine.StepStartedEvent, Step: &engine.StepEvent{
			ID: f.Step.ID, Goal: f.Step.Goal, Status: plan.Running, Attempts: f.Attempt,
		}})
	case engine.StepEnded:
		rec := f.Record
		s.event(engine.Event{Type: engine.StepCompleted, Duration: rec.DurationMS, Usage: &rec.Usage.Tokens, Latency: rec.Usage.LatencyMS, FirstToken: rec.Usage.FirstTokenMS, Step: &engine.StepEvent{
			ID: rec.ID, Goal: rec.Goal, Status: rec.Status, Attempts: rec.Attempts, Result: rec.Result, Error: rec.Error,
		}})
	case engine.NodeReplied:
		if engine.NodeIs[engine.PlanReviewer](s.r.program, f.By) {
			s.event(engine.Event{Type: engine.ReflectCompleted, By: f.By, Text: f.Reply.Result})
		}
	case engine.WarningAdded:
		s.event(engine.Event{Type: engine.Warning, Text: f.Text})
	case engine.MessageReceived:
		ev := engine.Event{Type: engine.MessageReceivedEvent, ID: f.Message.ID, Text: f.Message.Text}
		if by := f.Message.By; by != nil {
			ev.By = by.String()
		}
		if f.Message.Interrupt {
			ev.Status = engine.StatusInterrupt
		}
		s.event(ev)
	case engine.HistoryRead, engine.SessionRead, engine.ReplanRequested, engine.ModelCalled, engine.Embedded, engine.ToolCalled, engine.Answered, engine.MessagesAdded, engine.MessagesSeen, engine.Summarized:
		// reported by the effects themselves or at the end of the run
	}
}

// journaled reports whether requests are stored, and so need a digest.
func (r *run) journaled() bool { return r.opts.Journal != journal.Discard{} }

func digest(b []byte) journal.Digest { return journal.DigestOf(b) }

// toolRequest encodes the body of a call's intent. key is set if the call reuses the
// idempotency key of an earlier one.
func toolRequest(tool string, args json.RawMessage, key string) []byte {
	return jsonvalue.Encode(struct {
		Tool string          `json:"tool"`
		Args json.RawMessage `json:"args"`
		Key  string          `json:"key,omitempty"`
	}{tool, args, key})
}
