package kernel

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/pexctl/pex/engine/journal"
)

// World is where a session runs: it performs tasks, keeps time and waits. The default is this
// process, with a goroutine per task. Another world may let other processes perform them.
//
// The session calls Begin, Drop, Timer, Wait and Now on one goroutine, one at a time. Wake, and
// the fire of a timer, may be called on any.
type World interface {
	// Begin starts a task and returns at once. Task.End must be called once with its
	// outcome, unless the session ends or the task is dropped before.
	Begin(t Task)
	// Drop reports that the session needs nothing more of a task, whether it has ended or not.
	Drop(t Task)
	// Timer calls fire after d.
	Timer(d time.Duration, fire func()) Timer
	// Wait returns after Task.End, the fire of a timer, Wake, or the close of a channel of s. It
	// may return for no reason.
	Wait(s Signals)
	// Wake ends the current Wait, or else the next.
	Wake()
	// Now returns the time since some point before the session, which does not go backwards.
	Now() time.Duration
}

// Timer is a timer of a World.
type Timer interface {
	// Stop prevents the fire. It returns false if it is too late.
	Stop() bool
}

// Signals are what ends a Wait besides tasks and timers. A nil channel is never closed.
type Signals struct {
	Commit  <-chan struct{} // a commit is durable
	Cancel  <-chan struct{} // the run is cancelled
	Suspend <-chan struct{} // the session is to end
}

// Work is what a task does, as data. A World finds out more from its type.
type Work interface {
	// Note receives the Notes of an outcome, before the session sees it.
	Note(notes []byte)
}

// Task is an effect that a World performs.
type Task struct{ e *effect }

// Path returns the path of the effect, unique in its run.
func (t Task) Path() string { return t.e.path }

// Key returns the idempotency key.
func (t Task) Key() string { return t.e.key }

// Class returns what repeating the task would do.
func (t Task) Class() journal.Class { return t.e.class }

// Attempt returns the number of the attempt, from 1. A World performs each attempt at most once:
// the session decides about others.
func (t Task) Attempt() int { return int(t.e.attempt) }

// Detail returns Effect.Detail.
func (t Task) Detail() any { return t.e.detail }

// Context returns a context that ends when the task is dropped.
func (t Task) Context() context.Context { return &t.e.ctx }

// Work returns Effect.Work; nil = only Perform can perform the task.
func (t Task) Work() Work { return t.e.data }

// Delay returns for how long a World waits before it performs the task.
func (t Task) Delay() time.Duration {
	if t.e.run.o.Virtual {
		return 0
	}
	return t.e.delay
}

// Committed waits until the task may start: a task that is performed at most once must first
// be in the journal. An error ends the session.
func (t Task) Committed() error {
	if !t.e.waitsForCommit() {
		return nil
	}
	if err := t.e.ticket.Wait(); err != nil {
		return &StoreError{err}
	}
	return nil
}

// Perform performs the task in this process, on any goroutine. If it panics the outcome ends
// the session.
func (t Task) Perform() (out Outcome) {
	defer func() {
		if p := recover(); p != nil {
			out = Outcome{Fatal: panicked(t, p)}
		}
	}()
	return t.e.runWork()
}

func panicked(t Task, with any) error { return &PanicError{t.e.path, with, debug.Stack()} }

// End passes the outcome to the session and wakes it. It may be called on any goroutine, and
// does not block.
func (t Task) End(out Outcome) {
	if t.e.data != nil && len(out.Notes) > 0 {
		t.e.data.Note(out.Notes)
	}
	t.e.out = out
	t.e.run.report(t.e)
}

// report passes an ended effect to the scheduler; it never blocks. A timer that expired may be
// delivered before its report, so a report does not change it.
func (r *run) report(e *effect) {
	r.mu.Lock()
	r.endedQueue = append(r.endedQueue, e)
	r.mu.Unlock()
	r.world.Wake()
}
