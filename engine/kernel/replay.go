package kernel

import (
	"fmt"
	"time"

	"github.com/pexctl/pex/engine/journal"
)

// match compares an issued effect with the next record of the journal.
func (r *run) match(e *effect, in intent) {
	rec := &r.replay[r.pos]
	if rec.Kind != journal.Intent || rec.Path != e.path {
		r.fail(r.orderDrift(e.path, rec))
	}
	if in.onReplay != nil && len(rec.Body) > 0 {
		in.onReplay(rec.Body)
	}
	if rec.Class != e.class || rec.Digest != in.digest && (in.acceptDrift == nil || !in.acceptDrift()) {
		r.fail(&Drift{Class: DriftRequest, Path: e.path, Message: "the request is not the recorded one"})
	}
	e.attempt, e.request, e.digest = rec.Attempt, rec.Body, rec.Digest
	r.next()
}

// orderDrift returns the Drift for an effect that is not next in the journal.
func (r *run) orderDrift(path string, next *journal.Record) error {
	d := &Drift{Class: DriftExtra, Path: path, Message: "the next record of the journal is " + describe(next)}
	for i := r.pos; i < len(r.replay); i++ {
		if r.replay[i].Kind == journal.Intent && r.replay[i].Path == path {
			d.Class = DriftOrder
		}
	}
	return d
}

func describe(rec *journal.Record) string {
	switch rec.Kind {
	case journal.Intent:
		return "a request of " + rec.Path
	case journal.Result:
		return "a result of " + rec.Path
	case journal.End:
		return "the run's end"
	case journal.Start, journal.Redo, journal.Cancel, journal.Marker, journal.Change, journal.UnknownOutcome, journal.Answer, journal.Said:
	}
	return fmt.Sprintf("record %d", rec.Seq)
}

// deliverRecorded delivers the next record of the journal. All branches wait.
func (r *run) deliverRecorded() error {
	rec := &r.replay[r.pos]
	switch rec.Kind {
	case journal.Result:
		return r.deliverResults()
	case journal.Redo:
		if e := r.recorded[rec.Path]; e != nil {
			e.attempt, e.failure = rec.Attempt, nil
			r.reportDecision(rec, e)
		}
	case journal.UnknownOutcome, journal.Answer:
		r.replayNote(rec)
	case journal.Marker:
	case journal.Said:
		r.advanceTo(rec)
		r.receive(rec)
	case journal.Cancel:
		r.advanceTo(rec)
		r.reportDecision(rec, nil)
		r.applyCancel()
	case journal.Change:
		r.advanceTo(rec)
		r.reportDecision(rec, nil)
		r.applyChange(rec.Body)
	default:
		return &Drift{Class: DriftMissing, Path: rec.Path, Message: fmt.Sprintf("the journal has %s, which the code did not come to", describe(rec))}
	}
	r.advanceTo(rec)
	r.next()
	return nil
}

// deliverResults delivers one result, or all of those that were journaled while a session
// stopped, with the records between them.
func (r *run) deliverResults() error {
	for held := true; held && r.pos < len(r.replay); {
		rec := &r.replay[r.pos]
		r.advanceTo(rec)
		r.next()
		if rec.Kind == journal.UnknownOutcome || rec.Kind == journal.Answer {
			r.replayNote(rec)
		} else if err := r.deliverResult(rec); err != nil {
			return err
		}
		held = rec.Deferred && r.pos < len(r.replay) && r.replay[r.pos].Deferred
	}
	return nil
}

func (r *run) deliverResult(rec *journal.Record) error {
	e := r.recorded[rec.Path]
	if rec.Kind != journal.Result || e == nil || e.closed {
		return &Drift{Class: DriftOrder, Path: rec.Path, Message: fmt.Sprintf("the journal has %s, which no effect awaits", describe(rec))}
	}
	delete(r.recorded, rec.Path)
	r.stats.Replayed++
	if r.o.Virtual {
		r.now = max(r.now, e.due)
	}
	r.reportDecision(rec, e)
	e.out = Outcome{Status: rec.Status, Body: rec.Body, value: rec.Value}
	r.deliverTo(e)
	return nil
}

// replayNote applies a record about an effect that stays open.
func (r *run) replayNote(rec *journal.Record) {
	switch e := r.recorded[rec.Path]; {
	case e == nil:
	case rec.Kind == journal.UnknownOutcome:
		e.failure = rec.Body
	default:
		r.reportDecision(rec, e)
	}
}

func (r *run) advanceTo(rec *journal.Record) {
	r.now = max(r.now, time.Duration(rec.At))
	r.observeWall(rec)
}

// observeWall updates the time during which no session was active from a record with a wall
// time.
func (r *run) observeWall(rec *journal.Record) {
	if rec.WallTime != 0 && rec.Kind != journal.Start {
		r.inactive = max(r.inactive, time.Duration(rec.WallTime-r.startedAt.UnixNano()-rec.At))
	}
}

// deliverTo delivers the outcome of e to what waits for it.
func (r *run) deliverTo(e *effect) {
	r.close(e)
	if e.fire != nil {
		e.fire()
		return
	}
	r.ready.push(e.b)
}
