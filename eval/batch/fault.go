package batch

import (
	"errors"
	"fmt"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/eval/trial"
)

// faultOf returns why a run cannot be graded, or nil. A run that reached its own limit,
// or failed because of its agent, is a result and is graded.
func faultOf(res *engine.Result) *trial.Fault {
	reason := res.StopReason
	fault := func(kind trial.ErrorKind, message string) *trial.Fault {
		return &trial.Fault{Kind: kind, Message: message}
	}
	if res.ReplayMismatch != nil {
		return fault(trial.DriftFault, res.ReplayMismatch.Error())
	}
	switch reason.Code {
	case stop.StoreUnavailable, stop.StoreFull, stop.StoreCorrupt:
		return fault(trial.StorageFault, reason.Message)
	default:
	}
	switch res.Status {
	case stop.RunCompleted, stop.RunStopped:
		return nil
	case stop.RunInterrupted:
		return fault(trial.InternalFault, waitReason(res))
	case stop.RunCancelled:
		return fault(trial.InternalFault, "cancelled: "+reason.Message)
	case stop.RunFailed:
	}
	switch reason.Code {
	case stop.ProviderError:
		return fault(trial.ProviderFault, reason.Message)
	case stop.Drift, stop.Internal:
		return fault(trial.InternalFault, reason.Message)
	default:
		return nil
	}
}

// waitReason returns what a run waits for although no human is present.
func waitReason(res *engine.Result) string {
	what := res.StopReason.Message
	if res.StopReason.Code == stop.NeedsReview {
		return what
	}
	if len(res.Interrupts) > 0 {
		q := res.Interrupts[0]
		what = fmt.Sprintf("waits for an answer at %s (%s)", q.Path, q.Kind)
		if q.Tool != "" {
			what += " about " + q.Tool
		}
	}
	return what + ": evaluations cannot answer questions; remove the question with the variant's set"
}

// permanent reports whether a provider's error will also affect the next calls. always is
// false for errors that may be caused by the case, which count only if nothing else was
// seen.
func permanent(e *model.Error) (is, always bool) {
	if e == nil {
		return false, false
	}
	switch e.Kind {
	case model.AuthError, model.NotFound, model.NetworkError:
		return true, true
	case model.BadRequest, model.NoReply:
		return true, false
	default:
		return false, false
	}
}

// mayBeCaseFault reports whether a provider's error may be caused by the case's request.
func mayBeCaseFault(e *model.Error) bool {
	if e == nil {
		return false
	}
	switch e.Kind {
	case model.BadRequest, model.NoReply, model.ContextTooLong, model.BadReply, model.Truncated:
		return true
	default:
		return false
	}
}

// modelError returns the model's error in err's chain, or nil.
func modelError(err error) *model.Error {
	e, _ := errors.AsType[*model.Error](err)
	return e
}
