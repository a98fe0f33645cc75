package engine

import (
	"crypto/sha256"
	"encoding/json"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/journal"
)

// emitter numbers events and hands them to the sinks, one at a time. Events of
// the journal come from the kernel in order; deltas and progress come from
// effects under way.
type emitter struct {
	sinks []Sink
	run   string
	mu    sync.Mutex
	seq   int
	begun bool    // an earlier session told that the run has started
	early []Event // transient events before the first of the journal: a run starts with run.started
}

func (e *emitter) on() bool { return len(e.sinks) > 0 }

// recalls says whether a sink wants to hear what earlier sessions told.
func (e *emitter) recalls() bool {
	for _, s := range e.sinks {
		if _, ok := s.(Recaller); ok {
			return true
		}
	}
	return false
}

// recall passes on what an earlier session told.
func (e *emitter) recall(ev Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ev.V, ev.Run = EventVersion, e.run
	for _, s := range e.sinks {
		if r, ok := s.(Recaller); ok {
			r.Recall(ev)
		}
	}
}

// send numbers and sends an event whose records are durable.
func (e *emitter) send(ev Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seq++
	ev.Seq = e.seq
	e.pass(ev)
	for _, held := range e.early {
		e.pass(held)
	}
	e.early = nil
}

func (e *emitter) transient(ev Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ev.At = time.Now()
	if e.seq == 0 && !e.begun {
		e.early = append(e.early, ev)
		return
	}
	e.pass(ev)
}

func (e *emitter) pass(ev Event) {
	ev.V, ev.Run = EventVersion, e.run
	for _, s := range e.sinks {
		s.Send(ev)
	}
}

// event sends ev once what happened is durable; a replayed part sends nothing.
func (s *Scope) event(ev Event) {
	if !s.r.emit.on() {
		return
	}
	ev.Path, ev.Agent = joinPath(s.Path(), ev.Path), s.r.agent
	ev.At = s.r.started.Add(s.k.Now())
	emit, send := s.r.emit, s.r.emit.send
	if s.k.Replaying() && s.r.opts.Follow == nil {
		send = emit.recall
	}
	s.k.Emit(func() { send(ev) })
}

// tell sends the event of a fact, where it has one.
func (s *Scope) tell(f Fact) {
	switch f := f.(type) {
	case PlanTaken:
		plan := s.r.state.Plan
		s.event(Event{Type: PlanCreated, By: f.By, Plan: &plan})
	case StepStarted:
		s.event(Event{Type: StepStartedEvent, Step: &StepEvent{
			ID: f.Step.ID, Goal: f.Step.Goal, Status: StepRunning, Attempts: f.Attempt,
		}})
	case StepEnded:
		rec := f.Record
		s.event(Event{Type: StepCompleted, Duration: rec.DurationMS, Usage: &rec.Usage.Tokens, Step: &StepEvent{
			ID: rec.ID, Goal: rec.Goal, Status: rec.Status, Attempts: rec.Attempts, Result: rec.Result, Error: rec.Error,
		}})
	case Replied:
		if s.r.program.TypeOf(f.By) == "reflector" {
			s.event(Event{Type: ReflectCompleted, By: f.By, Text: f.Reply.Result})
		}
	case Warned:
		s.event(Event{Type: Warning, Text: f.Text})
	case HistoryRead, SessionRead, Urged, ModelCalled, Embedded, ToolCalled, Answered, Said, Recapped:
		// told by the effects themselves, or with the run's end
	}
}

// journaled says whether anybody will ever compare requests.
func (r *run) journaled() bool { return r.opts.Journal != journal.Discard{} }

func digest(b []byte) [32]byte { return sha256.Sum256(b) }

// toolRequest is the body of a call's intent; key is the idempotency key where it
// is that of an earlier call.
func toolRequest(tool string, args json.RawMessage, key string) []byte {
	return encoded(struct {
		Tool string          `json:"tool"`
		Args json.RawMessage `json:"args"`
		Key  string          `json:"key,omitempty"`
	}{tool, args, key})
}
