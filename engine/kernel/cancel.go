package kernel

import "github.com/pexctl/pex/engine/journal"

// Codes of the failures that a write ends with when its run is cancelled.
const (
	FailureUnknown  = "unknown"   // it was begun, and nobody knows whether it took effect
	FailureNotBegun = "not_begun" // it was asked for, and will not be begun
)

// cancelNow delivers the decision to cancel, if it was made.
func (r *run) cancelNow() bool {
	select {
	case <-r.o.Cancel:
		r.add(journal.Record{Kind: journal.Cut})
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

// giveUp ends the next write that a cancelled run does not wait for: one that
// was not begun, or of which a recording knows no more than that it was.
func (r *run) giveUp() bool {
	for e := r.open.first; e != nil && r.gaveUp; e = e.next {
		if e.class != journal.Write || e.given || e.started || r.inherited(e) {
			continue
		}
		if e.doubt {
			r.record(e, outcomeUnknown())
		} else {
			r.record(e, failed(&journal.Failure{Code: FailureNotBegun, Message: "it was not begun: the run was cancelled"}))
		}
		return true
	}
	return false
}

func outcomeUnknown() outcome {
	return failed(&journal.Failure{Code: FailureUnknown, Message: "it is not known whether this took effect: the run was cancelled meanwhile"})
}
