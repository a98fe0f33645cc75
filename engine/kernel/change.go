package kernel

import (
	"slices"

	"github.com/pexctl/pex/engine/journal"
)

// Reconsider is called by code that is about to end the run at a limit: true
// says that a change was made, so that the limit is to be looked at again. In
// the session that brings a change, the end that the run came to before is
// void from here on; a re-run finds the change where it was made.
func (s *Scope) Reconsider() bool { return s.b.run.reconsider() }

func (r *run) reconsider() bool {
	if r.pos >= len(r.replay) {
		return r.reconsiderLast()
	}
	rec := &r.replay[r.pos]
	if rec.Kind == journal.Change && rec.Voids != 0 {
		r.passed(rec)
		r.pos++
		r.decision(rec, nil)
		r.changed(rec.Body)
		return true
	}
	if r.o.Change == nil || r.o.More != nil || !r.revocable() {
		if r.stats.Limit == 0 {
			r.stats.Limit = rec.Seq
		}
		return false
	}
	void := r.replay[r.pos:]
	r.replay = r.replay[:r.pos:r.pos]
	r.change(void[0].Seq)
	r.adopt(void)
	return true
}

// reconsiderLast makes the change at a limit that the journal ends at. It voids
// no record, but says so by its own number: a re-run finds it at the limit.
func (r *run) reconsiderLast() bool {
	if r.o.Change == nil || r.o.More != nil {
		return false
	}
	r.change(r.seq + 1)
	return true
}

// revocable says that what follows in the journal may become void: no write
// was begun there.
func (r *run) revocable() bool {
	for i := r.pos; i < len(r.replay); i++ {
		if rec := &r.replay[i]; rec.Kind == journal.Intent && rec.Class == journal.Write {
			return false
		}
	}
	return true
}

// change journals the change and takes it over.
func (r *run) change(voids uint64) {
	body := r.o.Change()
	r.o.Change, r.stats.Changed = nil, true
	rec := r.stamp().on(journal.Record{Kind: journal.Change, Voids: voids, Body: body})
	r.add(rec)
	r.decision(&rec, nil)
	r.changed(body)
}

func (r *run) changed(body []byte) {
	r.stats.Limit = 0
	if r.o.Changed != nil {
		r.o.Changed(body)
	}
}

// adopt finds the outcomes of effects that were under way when what followed
// became void: they happened.
func (r *run) adopt(void []journal.Record) {
	for i := range void {
		e := r.recorded[void[i].Path]
		if void[i].Kind == journal.Result && e != nil && !e.gone && e.class != journal.Timer {
			r.adopted = append(r.adopted, &void[i])
		}
	}
}

// keepAdopted delivers the next of them. All are appended with the change: no
// session sees one without the others.
func (r *run) keepAdopted() bool {
	for len(r.adopted) > 0 {
		rec := r.adopted[0]
		r.adopted = r.adopted[1:]
		if e := r.recorded[rec.Path]; e != nil && !e.gone {
			delete(r.recorded, rec.Path)
			r.record(e, outcome{status: rec.Status, body: rec.Body, encoded: rec.Encoded, value: rec.Value, stamp: stampOf(rec)})
			return true
		}
	}
	return false
}

// lookOn waits for records that another session appends.
func (r *run) lookOn() error {
	more, err := r.extend()
	if err == nil && !more {
		return r.paused()
	}
	return err
}

// extend waits for records that another session appends; more says that there
// are some.
func (r *run) extend() (more bool, err error) {
	recs, err := r.o.More()
	if err != nil || len(recs) == 0 {
		return false, err
	}
	for i := range recs {
		if recs[i].Voids != 0 {
			return false, ErrRewound
		}
	}
	r.replay = slices.Concat(r.replay, recs)
	if r.recorded == nil {
		r.recorded = map[string]*effect{}
	}
	return true, nil
}

// paused says what is open where the journal ends. The timer of a Timeout is
// not: time does not pass while a run is parked.
func (r *run) paused() error {
	p := &Paused{}
	for e := r.open.first; e != nil; e = e.next {
		switch {
		case e.class == journal.Question:
			p.Questions = append(p.Questions, Open{e.path, e.request, nil})
		case e.class == journal.Write:
			p.Writes = append(p.Writes, Open{e.path, e.request, e.why})
		case e.fire == nil:
			p.Others++
		}
	}
	return p
}
