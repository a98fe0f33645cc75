package kernel

import "github.com/pexctl/pex/engine/journal"

// Codes of the failures that a write ends with when nobody waits for it any more.
const (
	FailureUnknown  = "unknown"   // it was begun, and nobody knows whether it took effect; also of an Effect.Once
	FailureNotBegun = "not_begun" // it was asked for, and will not be begun
	FailureSkipped  = "skipped"   // a person decided that it stays as it is; Data is a KeyData
)

const skippedMessage = "skipped by a person"

// KeyData is in the Data of the failure of a write that may have taken effect.
type KeyData struct {
	Key string `json:"key,omitempty"` // that it was performed with
}

// cancelNow delivers the decision to cancel, if it was made.
func (r *run) cancelNow() bool {
	select {
	case <-r.o.Cancel:
		stamp := r.stamp()
		if r.o.CancelledBy != nil {
			stamp.by = r.o.CancelledBy()
		}
		rec := stamp.on(journal.Record{Kind: journal.Cut})
		r.add(rec)
		r.decision(&rec, nil)
		r.cancelled()
		return true
	default:
		return false
	}
}

// cancelled is the decision to cancel, live or recorded.
func (r *run) cancelled() {
	r.o.Cancel, r.gaveUp = nil, true
	r.cut(r.top, ErrCancelled)
}

// withhold ends the next write that will not be begun any more, because the
// run was cancelled or the wait for it was cut before its tick was over. In a
// cancelled run it also ends a write of which the recording has the intent alone.
func (r *run) withhold() bool {
	if !r.gaveUp && !r.cutWrites {
		return false
	}
	for e := r.open.first; e != nil; e = e.next {
		if e.class != journal.Write || e.given || e.started || r.inherited(e) {
			continue
		}
		switch why := e.scope.cutBy(); {
		case e.doubt && r.gaveUp:
			r.record(e, outcomeUnknown())
		case e.doubt || why == nil:
			continue
		default:
			r.record(e, failed(&journal.Failure{Code: FailureNotBegun, Message: "it was not begun: " + why.Error()}))
		}
		return true
	}
	r.cutWrites = false
	return false
}

func outcomeUnknown() outcome {
	return failed(&journal.Failure{Code: FailureUnknown, Message: "it is not known whether this took effect: the run was cancelled meanwhile"})
}
