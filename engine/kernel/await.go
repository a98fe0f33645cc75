package kernel

import (
	"errors"
	"time"

	"github.com/pexctl/pex/engine/failpoint"
	"github.com/pexctl/pex/engine/journal"
)

// await blocks until something happens, and delivers it.
func (r *run) await() error {
	for {
		e := r.next()
		if e == nil {
			if err := r.note(false); err != nil {
				return err
			}
			if happened, err := r.idle(); happened || err != nil {
				return err
			}
			continue
		}
		if u, ok := errors.AsType[*Unavailable](e.out.fatal); ok {
			return r.unavailable(e, u)
		}
		if e.out.fatal != nil {
			return e.out.fatal
		}
		switch {
		case e.out.declined:
			r.declined(e)
		case e.out.doubt != nil:
			r.doubted(e, false)
		default:
			r.record(e, e.out)
		}
		return nil
	}
}

// next is the ended effect whose turn it is, or nil: live the first to end, in
// virtual time the one that is due first.
func (r *run) next() *effect {
	if !r.o.Virtual {
		return r.ended()
	}
	for e := r.ended(); e != nil; e = r.ended() {
		e.finished = true
	}
	for e := r.virtual.first(); e != nil; e = r.virtual.first() {
		if !e.gone && !e.finished {
			return nil
		}
		r.virtual.pop()
		if !e.gone {
			return e
		}
	}
	return nil
}

// ended takes the first effect that has ended and is still waited for.
func (r *run) ended() *effect {
	for {
		if r.head == len(r.taken) {
			r.mu.Lock()
			r.taken, r.done = r.done, r.taken[:0]
			r.mu.Unlock()
			if r.head = 0; len(r.taken) == 0 {
				return nil
			}
		}
		e := r.taken[r.head]
		r.taken[r.head] = nil
		if r.head++; !e.gone {
			return e
		}
	}
}

// idle waits; happened says that the scheduler has to look around.
func (r *run) idle() (happened bool, err error) {
	outer, cancel := r.outer.Done(), r.o.Cancel
	if outer == nil && cancel == nil && len(r.untold) == 0 {
		<-r.wake
		return false, nil
	}
	var commit <-chan struct{}
	if len(r.untold) > 0 {
		commit = r.untold[0].ticket.Done()
	}
	select {
	case <-r.wake:
		return false, nil
	case <-commit:
		return false, r.tell()
	case <-cancel:
		return true, nil
	case <-outer:
		return true, r.suspend()
	}
}

// unavailable suspends the session for an effect that could not be performed.
// The time that it tried does not count: nothing of the run was done in it.
func (r *run) unavailable(e *effect, why *Unavailable) error {
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

// declined leaves a question open that nobody answered in place.
func (r *run) declined(e *effect) {
	e.declined, e.started, e.finished = true, false, false
	r.working--
	r.asking = nil
}

// doubted leaves a write open whose outcome is unknown.
func (r *run) doubted(e *effect, held bool) {
	if r.o.Virtual {
		r.now = max(r.now, e.due)
	}
	e.doubt, e.why, e.started, e.finished = true, e.out.doubt, false, false
	e.out = outcome{}
	r.working--
	delete(r.o.Resolve, e.path) // a decision is about an attempt that is over
	r.add(journal.Record{Kind: journal.Doubt, Path: e.path, Body: e.why, Encoded: true, Held: held})
	failpoint.At(failpoint.ResultAfter)
}

// suspend ends the session. Effects under way may end within the grace time;
// what they gave is journaled for the next session, node code sees none of it.
func (r *run) suspend() error {
	if err := r.mark(); err != nil {
		return err
	}
	failpoint.At(failpoint.SuspendMarked)
	grace := time.NewTimer(r.o.Grace)
	defer grace.Stop()
	for over := r.o.Grace <= 0; ; {
		if err := r.hold(); err != nil {
			return err
		}
		if over || !r.performing() {
			break
		}
		select {
		case <-r.wake:
		case <-grace.C:
			over = true
		}
	}
	if err := r.settle(); err != nil {
		return err
	}
	failpoint.At(failpoint.SuspendHeld)
	return ErrSuspended
}

// hold journals the outcomes and answers that are there.
func (r *run) hold() error {
	if err := r.note(true); err != nil {
		return err
	}
	for e := r.ended(); e != nil; e = r.ended() {
		if e.out.fatal != nil {
			return e.out.fatal
		}
		if e.class != journal.Timer && !e.out.declined {
			r.keep(e)
		}
	}
	for e := r.open.first; e != nil; e = e.next {
		if e.finished && e.class != journal.Timer { // virtual time: it ended out of turn
			r.keep(e)
		}
	}
	_, err := r.flush()
	return err
}

func (r *run) keep(e *effect) {
	if e.out.doubt != nil {
		r.doubted(e, true)
		return
	}
	rec := e.result(e.out)
	rec.Held = true
	r.add(rec)
	r.decision(&rec, e)
	r.close(e)
}

// performing says whether an effect is under way that the grace time is for.
func (r *run) performing() bool {
	for e := r.open.first; e != nil; e = e.next {
		if e.started && e.class != journal.Timer && e.class != journal.Question {
			return true
		}
	}
	return false
}
