package kernel

import (
	"errors"
	"sync/atomic"

	"github.com/pexctl/pex/engine/failpoint"
	"github.com/pexctl/pex/engine/journal"
)

// await blocks until an effect ends or something else happens, and delivers it.
func (r *run) await() error {
	for {
		if r.hasMessages() {
			return nil // the scheduler delivers them before any outcome
		}
		e := r.nextDue()
		if e == nil {
			if err := r.journalMidAnswers(false); err != nil {
				return err
			}
			if happened, err := r.wait(); happened || err != nil {
				return err
			}
			continue
		}
		if u, ok := errors.AsType[*Unavailable](e.out.Fatal); ok {
			return r.suspendUnavailable(e, u)
		}
		if e.out.Fatal != nil {
			return e.out.Fatal
		}
		switch {
		case e.out.declined:
			r.decline(e)
		case !r.permitAnswer(e):
			r.decline(e)
			e.declined = !r.o.AskAll // another human may answer
		case e.out.Lost:
			r.recordLost(e)
		case e.out.Unknown != nil:
			r.recordDoubt(e, false)
		default:
			r.record(e, e.out)
		}
		return nil
	}
}

// next returns the ended effect to deliver, or nil: in real time the first that ended, in
// virtual time the first that is due.
func (r *run) nextDue() *effect {
	if !r.o.Virtual {
		return r.nextEnded()
	}
	for e := r.nextEnded(); e != nil; e = r.nextEnded() {
		e.ended = true
	}
	for e := r.virtual.first(); e != nil; e = r.virtual.first() {
		if !e.closed && !e.ended {
			return nil
		}
		r.virtual.pop()
		if !e.closed {
			return e
		}
	}
	return nil
}

// nextEnded removes and returns the first ended effect that a branch still waits for.
func (r *run) nextEnded() *effect {
	for {
		if r.head == len(r.endedBatch) {
			r.mu.Lock()
			r.endedBatch, r.endedQueue = r.endedQueue, r.endedBatch[:0]
			r.mu.Unlock()
			if r.head = 0; len(r.endedBatch) == 0 {
				return nil
			}
		}
		e := r.endedBatch[r.head]
		r.endedBatch[r.head] = nil
		if r.head++; !e.closed {
			return e
		}
	}
}

// wait blocks. happened reports that the scheduler has to check its state again.
func (r *run) wait() (happened bool, err error) {
	on := Signals{Cancel: r.o.Cancel, Suspend: r.outer.Done()}
	if len(r.pendingEmits) > 0 {
		on.Commit = r.pendingEmits[0].ticket.Done()
	}
	r.world.Wait(on)
	switch {
	case r.outer.Err() != nil:
		return true, r.suspend()
	case isClosed(r.o.Cancel):
		return true, nil
	default:
		return false, r.emitDurable()
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// suspendUnavailable suspends the session because an effect could not be performed. The
// time of the attempt does not count as active time.
func (r *run) suspendUnavailable(e *effect, why *Unavailable) error {
	e.started = false
	r.working--
	if r.working == 0 && !r.o.Virtual {
		r.clock0 += r.active() - r.now
	}
	if err := r.suspend(); !errors.Is(err, ErrSuspended) {
		return err
	}
	return why
}

// decline leaves a question open that was not answered inline. The time for which the session
// waited only for its answer does not count as active time.
func (r *run) decline(e *effect) {
	e.declined, e.started, e.ended = true, false, false
	r.working--
	if r.working == 0 && !r.o.Virtual {
		r.clock0 += r.active() - r.now
	}
}

// recordDoubt leaves a write open whose outcome is unknown.
func (r *run) recordDoubt(e *effect, held bool) {
	if r.o.Virtual {
		r.now = max(r.now, e.due)
	}
	e.inDoubt, e.failure, e.started, e.ended = true, e.out.Unknown, false, false
	e.out = Outcome{}
	r.working--
	delete(r.o.Resolve, e.path) // a decision applies to the attempt before
	r.add(journal.Record{Kind: journal.UnknownOutcome, Path: e.path, Body: e.failure, Encoded: true, Deferred: held})
	failpoint.At(failpoint.ResultAfter)
}

// maxLost is the number of attempts of a task that is lost each time.
const maxLost = 3

// recordLost decides about an effect whose task was lost: it may be repeated, or a human has to
// decide, or it fails.
func (r *run) recordLost(e *effect) {
	switch {
	case e.class == journal.Write:
		e.out.Unknown = lostFailure.Encode()
		r.recordDoubt(e, false)
	case e.once || e.attempt >= maxLost:
		r.record(e, failed(lostFailure))
	default:
		if r.o.Virtual {
			r.now = max(r.now, e.due)
		}
		e.started, e.ended, e.out = false, false, Outcome{}
		r.working--
		e.attempt++
		r.add(journal.Record{Kind: journal.Redo, Path: e.path, Attempt: e.attempt, Sync: e.waitsForCommit()})
		r.toStart = append(r.toStart, e)
	}
}

var lostFailure = &journal.Failure{Code: FailureUnknown, Message: "the worker that performed it ended before its outcome was there"}

// suspend ends the session. Effects in flight may finish within the grace time. Their
// outcomes are journaled for the next session; node code does not see them in this one.
func (r *run) suspend() error {
	if err := r.mark(); err != nil {
		return err
	}
	failpoint.At(failpoint.SuspendMarked)
	var over atomic.Bool
	over.Store(r.o.Grace <= 0)
	grace := r.world.Timer(r.o.Grace, func() {
		over.Store(true)
		r.world.Wake()
	})
	defer grace.Stop()
	for {
		if err := r.journalOutcomes(); err != nil {
			return err
		}
		if over.Load() || !r.hasEffectsInFlight() {
			break
		}
		r.world.Wait(Signals{})
	}
	if err := r.settle(); err != nil {
		return err
	}
	failpoint.At(failpoint.SuspendHeld)
	return ErrSuspended
}

// journalOutcomes journals the outcomes and answers available now.
func (r *run) journalOutcomes() error {
	if err := r.journalMidAnswers(true); err != nil {
		return err
	}
	if _, err := r.deliverMessages(true); err != nil {
		return err
	}
	for e := r.nextEnded(); e != nil; e = r.nextEnded() {
		if e.out.Fatal != nil {
			return e.out.Fatal
		}
		if e.class != journal.Timer && r.permitAnswer(e) {
			r.journalOutcome(e)
		}
	}
	for e := r.open.first; e != nil; e = e.next {
		if e.ended && e.class != journal.Timer && r.permitAnswer(e) { // virtual time: it ended before its turn
			r.journalOutcome(e)
		}
	}
	_, err := r.flush()
	return err
}

func (r *run) journalOutcome(e *effect) {
	if e.out.Lost {
		return // the next session repeats it, or not
	}
	if e.out.Unknown != nil {
		r.recordDoubt(e, true)
		return
	}
	rec := e.result(e.out)
	rec.Deferred = true
	r.add(rec)
	r.reportDecision(&rec, e)
	if e.out.stamp != nil {
		r.announceDecision(e)
	}
	r.close(e)
}

// hasEffectsInFlight reports whether an effect is in flight that the grace time is for.
func (r *run) hasEffectsInFlight() bool {
	for e := r.open.first; e != nil; e = e.next {
		if e.started && e.class != journal.Timer && e.class != journal.Question {
			return true
		}
	}
	return false
}
