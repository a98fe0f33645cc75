package runtime

import (
	"crypto/sha256"
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

// emitter numbers events and hands them to the sinks, one at a time. Events of
// the journal come from the kernel in order; deltas and progress come from
// effects under way.
type emitter struct {
	sinks  []engine.Sink
	run    string
	issued int // number of the last event; only the run's coroutines use it

	mu   sync.Mutex
	sent int         // number of the last event that was sent, in this session or before
	held []heldEvent // transient events whose call has not been announced
}

// heldEvent is a transient event that follows the event of a number.
type heldEvent struct {
	after int
	event engine.Event
}

func (e *emitter) on() bool { return len(e.sinks) > 0 }

// recalls says whether a sink wants to hear what earlier sessions told.
func (e *emitter) recalls() bool {
	for _, s := range e.sinks {
		if _, ok := s.(engine.ReplaySink); ok {
			return true
		}
	}
	return false
}

// next is the number of the next event. An event that an earlier session sent is
// counted and not sent again.
func (e *emitter) next(replayed bool) int {
	e.issued++
	if replayed {
		e.mu.Lock()
		e.sent = e.issued
		e.mu.Unlock()
	}
	return e.issued
}

// recall passes on what an earlier session told.
func (e *emitter) recall(ev engine.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ev.V, ev.Run = engine.EventVersion, e.run
	for _, s := range e.sinks {
		if r, ok := s.(engine.ReplaySink); ok {
			r.Recall(ev)
		}
	}
}

// send sends an event whose records are durable, then what waited for it.
func (e *emitter) send(ev engine.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pass(ev)
	e.sent = ev.Seq
	waiting := e.held[:0]
	for _, h := range e.held {
		if h.after > e.sent {
			waiting = append(waiting, h)
			continue
		}
		e.pass(h.event)
	}
	clear(e.held[len(waiting):])
	e.held = waiting
}

// transient sends an event that no journal holds, once the event numbered after
// was sent.
func (e *emitter) transient(after int, ev engine.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ev.At = time.Now()
	if after > e.sent {
		e.held = append(e.held, heldEvent{after, ev})
		return
	}
	e.pass(ev)
}

// transients sends events of the effect of a name while it is under way, from any
// goroutine. It is called when the effect is issued.
func (s *scope) transients(name string) func(engine.Event) {
	r := s.r
	if !r.emit.on() {
		return func(engine.Event) {}
	}
	path, started := joinPath(s.Path(), name), r.emit.issued
	return func(ev engine.Event) {
		ev.Path, ev.Agent = path, r.agent
		r.emit.transient(started, ev)
	}
}

// shown is closed once the sinks have received all events so far.
func (s *scope) shown() <-chan struct{} {
	done := make(chan struct{})
	if s.k.Replaying() {
		close(done)
	} else {
		s.k.Emit(func() { close(done) })
	}
	return done
}

// retrying is ev as it reports a wait before a repeat.
func retrying(ev engine.Event, e model.RetryEvent, masked redact.Mask) engine.Event {
	e.Error = masked.Text(e.Error)
	ev.Retry = &e
	return ev
}

func (e *emitter) pass(ev engine.Event) {
	ev.V, ev.Run = engine.EventVersion, e.run
	for _, s := range e.sinks {
		s.Send(ev)
	}
}

// suspended says that the session ends before the run does.
func (r *run) suspended() {
	if r.emit.on() && r.opts.Follow == nil && r.reason.Status == stop.RunInterrupted {
		r.emit.transient(0, engine.Event{Type: engine.RunSuspended, Status: string(r.reason.Status), Stop: &r.reason})
	}
}

// event sends ev once what happened is durable; a replayed part sends nothing.
func (s *scope) event(ev engine.Event) {
	if !s.r.emit.on() {
		return
	}
	emit := s.r.emit
	replayed := s.k.Replaying() && s.r.opts.Follow == nil
	ev.Seq = emit.next(replayed)
	ev.Path, ev.Agent = joinPath(s.Path(), ev.Path), s.r.agent
	ev.At = s.r.started.Add(s.k.Now())
	send := emit.send
	if replayed {
		send = emit.recall
	}
	s.k.Emit(func() { send(ev) })
}

// tell sends the event of a fact, where it has one.
func (s *scope) tell(f engine.Fact) {
	switch f := f.(type) {
	case engine.PlanTaken:
		plan := s.r.state.Plan
		s.event(engine.Event{Type: engine.PlanCreated, By: f.By, Plan: &plan})
	case engine.StepStarted:
		s.event(engine.Event{Type: engine.StepStartedEvent, Step: &engine.StepEvent{
			ID: f.Step.ID, Goal: f.Step.Goal, Status: plan.Running, Attempts: f.Attempt,
		}})
	case engine.StepEnded:
		rec := f.Record
		s.event(engine.Event{Type: engine.StepCompleted, Duration: rec.DurationMS, Usage: &rec.Usage.Tokens, Step: &engine.StepEvent{
			ID: rec.ID, Goal: rec.Goal, Status: rec.Status, Attempts: rec.Attempts, Result: rec.Result, Error: rec.Error,
		}})
	case engine.NodeReplied:
		if engine.NodeIs[engine.PlanReviewer](s.r.program, f.By) {
			s.event(engine.Event{Type: engine.ReflectCompleted, By: f.By, Text: f.Reply.Result})
		}
	case engine.WarningAdded:
		s.event(engine.Event{Type: engine.Warning, Text: f.Text})
	case engine.HistoryRead, engine.SessionRead, engine.ReplanRequested, engine.ModelCalled, engine.Embedded, engine.ToolCalled, engine.Answered, engine.MessagesAdded, engine.Summarized:
		// told by the effects themselves, or with the run's end
	}
}

// journaled says whether anybody will ever compare requests.
func (r *run) journaled() bool { return r.opts.Journal != journal.Discard{} }

func digest(b []byte) [32]byte { return sha256.Sum256(b) }

// toolRequest is the body of a call's intent; key is the idempotency key where it
// is that of an earlier call.
func toolRequest(tool string, args json.RawMessage, key string) []byte {
	return jsonvalue.Encode(struct {
		Tool string          `json:"tool"`
		Args json.RawMessage `json:"args"`
		Key  string          `json:"key,omitempty"`
	}{tool, args, key})
}
