package kernel

import (
	"slices"

	"github.com/pexctl/pex/engine/journal"
)

// ReevaluateLimits must be called before the run ends at a limit. It returns true if a
// limit change was applied, so that the caller must check the limit again. The session
// that brings a change voids the recorded end of the run from here on; a replay applies
// the change at the same place.
func (s *Scope) ReevaluateLimits() bool { return s.b.run.reevaluateLimits() }

func (r *run) reevaluateLimits() bool {
	if r.pos >= len(r.replay) {
		return r.changeAtEnd()
	}
	rec := &r.replay[r.pos]
	if rec.Kind == journal.Change && rec.Voids != 0 {
		r.advanceTo(rec)
		r.reportDecision(rec, nil)
		r.applyChange(rec.Body)
		r.next()
		return true
	}
	if r.o.ChangeBody == nil || r.o.Follow != nil || !r.canVoid() {
		if r.stats.Limit == 0 {
			r.stats.Limit = rec.Seq
		}
		return false
	}
	void := r.replay[r.pos:]
	r.replay = r.replay[:r.pos:r.pos]
	r.applyNewChange(void[0].Seq)
	r.carryOverMessages(void)
	r.carryOver(void)
	return true
}

// changeAtEnd applies the change if the journal ends at the limit. It voids no record;
// the change refers to its own sequence number, so that a replay finds it at the limit.
func (r *run) changeAtEnd() bool {
	if r.o.ChangeBody == nil || r.o.Follow != nil {
		return false
	}
	r.applyNewChange(r.seq + 1)
	return true
}

// canVoid reports whether the rest of the journal may be voided: no write was started
// there.
func (r *run) canVoid() bool {
	for i := r.pos; i < len(r.replay); i++ {
		if rec := &r.replay[i]; rec.Kind == journal.Intent && rec.Class == journal.Write {
			return false
		}
	}
	return true
}

// applyNewChange journals the change of this session and applies it.
func (r *run) applyNewChange(voids uint64) {
	body := r.o.ChangeBody()
	r.o.ChangeBody, r.stats.Changed = nil, true
	rec := r.stamp().applyTo(journal.Record{Kind: journal.Change, Voids: voids, Body: body})
	r.add(rec)
	r.reportDecision(&rec, nil)
	r.applyChange(body)
}

func (r *run) applyChange(body []byte) {
	r.stats.Limit = 0
	if r.o.OnChange != nil {
		r.o.OnChange(body)
	}
}

// carryOver collects from voided records the outcomes of effects that are still open:
// they did happen.
func (r *run) carryOver(void []journal.Record) {
	for i := range void {
		e := r.recorded[void[i].Path]
		if void[i].Kind == journal.Result && e != nil && !e.closed && e.class != journal.Timer {
			r.carriedOver = append(r.carriedOver, &void[i])
		}
	}
}

// deliverCarriedOver delivers the next of them. All are appended together with the
// change, so no session sees one without the others.
func (r *run) deliverCarriedOver() bool {
	for len(r.carriedOver) > 0 {
		rec := r.carriedOver[0]
		r.carriedOver = r.carriedOver[1:]
		if e := r.recorded[rec.Path]; e != nil && !e.closed {
			delete(r.recorded, rec.Path)
			r.record(e, Outcome{Status: rec.Status, Body: rec.Body, Encoded: rec.Encoded, value: rec.Value, stamp: stampOf(rec)})
			return true
		}
	}
	return false
}

// tail waits for records that another session appends.
func (r *run) tail() error {
	more, err := r.loadMore()
	if err == nil && !more {
		return r.pausedError()
	}
	return err
}

// loadMore waits for records that another session appends, and reports whether there are
// any.
func (r *run) loadMore() (more bool, err error) {
	recs, err := r.o.Follow()
	if err != nil || len(recs) == 0 {
		return false, err
	}
	for i := range recs {
		if recs[i].Voids != 0 {
			return false, ErrRewound
		}
	}
	if recs[0].Deferred && (recs[0].Kind == journal.Said || r.cur != nil) { // node code went past the record before it
		return false, ErrRewound
	}
	r.replay = slices.Concat(r.replay, recs)
	if r.recorded == nil {
		r.recorded = map[string]*effect{}
	}
	return true, nil
}

// pausedError returns what is open at the end of the journal, except timers of Timeouts:
// active time stops while a run is suspended.
func (r *run) pausedError() error {
	p := &Paused{}
	for e := r.open.first; e != nil; e = e.next {
		switch {
		case e.class == journal.Question:
			p.Questions = append(p.Questions, Open{e.path, e.request, nil})
		case e.class == journal.Write:
			p.Writes = append(p.Writes, Open{e.path, e.request, e.failure})
		case e.fire == nil:
			p.Others++
		}
	}
	return p
}
