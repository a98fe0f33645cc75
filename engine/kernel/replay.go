package kernel

import (
	"fmt"
	"time"

	"github.com/pexctl/pex/engine/journal"
)

// match compares an issued effect with the journal's next record.
func (r *run) match(e *effect, in intent) {
	rec := &r.replay[r.pos]
	if rec.Kind != journal.Intent || rec.Path != e.path {
		r.fail(r.misplaced(e.path, rec))
	}
	if in.reread != nil && len(rec.Body) > 0 {
		in.reread(rec.Body)
	}
	if rec.Class != e.class || rec.Digest != in.digest && (in.drifted == nil || !in.drifted()) {
		r.fail(&Drift{Class: DriftRequest, Path: e.path, Message: "the request is not the recorded one"})
	}
	e.attempt, e.request, e.digest = rec.Attempt, rec.Body, rec.Digest
	r.pos++
}

// misplaced says what is wrong with an effect that the journal does not have next.
func (r *run) misplaced(path string, next *journal.Record) error {
	d := &Drift{Class: DriftExtra, Path: path, Message: "the journal goes on with " + describe(next)}
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
	case journal.Start, journal.Redo, journal.Cut, journal.Marker, journal.Change, journal.Doubt, journal.Answer:
	}
	return fmt.Sprintf("record %d", rec.Seq)
}

// deliverRecorded delivers the journal's next record. All branches wait.
func (r *run) deliverRecorded() error {
	rec := &r.replay[r.pos]
	switch rec.Kind {
	case journal.Result:
		return r.deliverResults()
	case journal.Redo:
		if e := r.recorded[rec.Path]; e != nil {
			e.attempt, e.why = rec.Attempt, nil
			r.decision(rec, e)
		}
	case journal.Doubt, journal.Answer:
		r.noted(rec)
	case journal.Marker:
	case journal.Cut:
		r.passed(rec)
		r.pos++
		r.decision(rec, nil)
		r.cancelled()
		return nil
	case journal.Change:
		r.passed(rec)
		r.pos++
		r.decision(rec, nil)
		r.changed(rec.Body)
		return nil
	default:
		return &Drift{Class: DriftMissing, Path: rec.Path, Message: fmt.Sprintf("the journal has %s, which the code did not come to", describe(rec))}
	}
	r.passed(rec)
	r.pos++
	return nil
}

// deliverResults delivers one result, or the whole batch of those that came
// while a session stopped, with what was noted between them.
func (r *run) deliverResults() error {
	for held := true; held && r.pos < len(r.replay); {
		rec := &r.replay[r.pos]
		r.passed(rec)
		r.pos++
		if rec.Kind == journal.Doubt || rec.Kind == journal.Answer {
			r.noted(rec)
		} else if err := r.deliverResult(rec); err != nil {
			return err
		}
		held = rec.Held && r.pos < len(r.replay) && r.replay[r.pos].Held
	}
	return nil
}

func (r *run) deliverResult(rec *journal.Record) error {
	e := r.recorded[rec.Path]
	if rec.Kind != journal.Result || e == nil || e.gone {
		return &Drift{Class: DriftOrder, Path: rec.Path, Message: fmt.Sprintf("the journal has %s, for which nobody waits", describe(rec))}
	}
	delete(r.recorded, rec.Path)
	r.stats.Replayed++
	if r.o.Virtual {
		r.now = max(r.now, e.due)
	}
	r.decision(rec, e)
	e.out = outcome{status: rec.Status, body: rec.Body, value: rec.Value}
	r.hand(e)
	return nil
}

// noted takes in what the journal notes about an effect that stays open.
func (r *run) noted(rec *journal.Record) {
	switch e := r.recorded[rec.Path]; {
	case e == nil:
	case rec.Kind == journal.Doubt:
		e.why = rec.Body
	default:
		r.decision(rec, e)
	}
}

func (r *run) passed(rec *journal.Record) { r.now = max(r.now, time.Duration(rec.At)) }

// hand gives an outcome to whoever waits for it.
func (r *run) hand(e *effect) {
	r.close(e)
	if e.fire != nil {
		e.fire()
		return
	}
	r.ready.push(e.b)
}
