package kernel

import "github.com/pexctl/pex/engine/journal"

// interrupt ends the open interruptible effects that were issued before the last message
// with Interrupt. It runs while no branch does, before those that are ready continue, so a
// replay, which knows only the record of the message, ends the same effects in the same
// order. Outcomes that were journaled behind the message, while a session stopped, come
// first: those effects were not interrupted.
func (r *run) interrupt() error {
	for r.pos < len(r.replay) && isDeferredOutcome(&r.replay[r.pos]) {
		if err := r.deliverResults(); err != nil {
			return err
		}
	}
	before := r.interrupting
	r.interrupting = 0
	for e := r.open.first; e != nil && e.issue <= before; e = e.next {
		if e.interruptible {
			e.cut = ErrInterrupting
			r.close(e)
			r.ready.push(e.b)
		}
	}
	return nil
}

func isDeferredOutcome(rec *journal.Record) bool {
	switch rec.Kind {
	case journal.Result, journal.UnknownOutcome, journal.Answer:
		return rec.Deferred
	default:
		return false
	}
}

// releaseHeldBack starts the effects that recorded messages should have interrupted, once
// nothing else happens: the run has taken another way than the recorded one.
func (r *run) releaseHeldBack() (on bool, err error) {
	for _, e := range r.heldBack {
		if e.closed {
			continue
		}
		if e.otherwise != nil {
			return false, e.otherwise
		}
		r.toStart, on = append(r.toStart, e), true
	}
	r.heldBack = nil
	return on, nil
}
