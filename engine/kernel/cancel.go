package kernel

import "github.com/pexctl/pex/engine/journal"

// Failure codes of writes that end without a usable outcome.
const (
	FailureUnknown  = "unknown"   // it was started and may have taken effect; also of an Effect.AtMostOnce
	FailureNotBegun = "not_begun" // it was requested but will not be started
	FailureSkipped  = "skipped"   // a human decided to leave it as it is; Data is a KeyData
)

const skippedMessage = "skipped by a person"

// KeyData is the Data of the failure of a write that may have taken effect.
type KeyData struct {
	Key string `json:"key,omitempty"` // idempotency key of the write
}

// cancelNow delivers the decision to cancel, if there is one.
func (r *run) cancelNow() bool {
	if !isClosed(r.o.Cancel) {
		return false
	}
	stamp := r.stamp()
	if r.o.CancelledBy != nil {
		stamp.by = r.o.CancelledBy()
	}
	rec := stamp.applyTo(journal.Record{Kind: journal.Cancel})
	r.add(rec)
	r.reportDecision(&rec, nil)
	r.applyCancel()
	return true
}

// applyCancel applies the decision to cancel, new or replayed.
func (r *run) applyCancel() {
	r.o.Cancel, r.cancelled = nil, true
	r.cut(r.top, ErrCancelled)
}

// failUnstarted fails the next write that will not be started because the run was
// cancelled or its wait was cut before its tick was committed. In a cancelled run it also
// fails writes of which the recording has only the intent.
func (r *run) failUnstarted() bool {
	if !r.cancelled && !r.cutWrites {
		return false
	}
	for e := r.open.first; e != nil; e = e.next {
		if e.class != journal.Write || e.replayed || e.started || r.inherited(e) {
			continue
		}
		switch why := e.scope.cutBy(); {
		case e.inDoubt && r.cancelled:
			r.record(e, outcomeUnknown())
		case e.inDoubt || why == nil:
			continue
		default:
			r.record(e, failed(&journal.Failure{Code: FailureNotBegun, Message: "it was not begun: " + why.Error()}))
		}
		return true
	}
	r.cutWrites = false
	return false
}

func outcomeUnknown() Outcome {
	return failed(&journal.Failure{Code: FailureUnknown, Message: "it is not known whether this took effect: the run was cancelled meanwhile"})
}
