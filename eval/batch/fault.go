package batch

import (
	"errors"
	"fmt"

	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/eval/trial"
)

// faultOf says who is to blame for a run of which nothing can be said, or nil:
// a run that reached a limit of its own, or failed by what its agent did, is a
// result and is graded.
func faultOf(res *engine.Result) *trial.Fault {
	reason := res.StopReason
	fault := func(kind trial.ErrorKind, message string) *trial.Fault {
		return &trial.Fault{Kind: kind, Message: message}
	}
	if res.Miss != nil {
		return fault(trial.DriftFault, res.Miss.Error())
	}
	switch reason.Code {
	case stop.StoreUnavailable, stop.StoreFull, stop.StoreCorrupt:
		return fault(trial.StoreFault, reason.Message)
	default:
	}
	switch res.Status {
	case stop.RunCompleted, stop.RunStopped:
		return nil
	case stop.RunInterrupted:
		return fault(trial.InternalFault, waits(res))
	case stop.RunCancelled:
		return fault(trial.InternalFault, "it was cancelled: "+reason.Message)
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

// waits says for what a run waits that nobody is there to give.
func waits(res *engine.Result) string {
	what := res.StopReason.Message
	if res.StopReason.Code == stop.NeedsReview {
		return what
	}
	if len(res.Interrupts) > 0 {
		q := res.Interrupts[0]
		what = fmt.Sprintf("waits for a person at %s (%s)", q.Path, q.Kind)
		if q.Tool != "" {
			what += " about " + q.Tool
		}
	}
	return what + ": nobody answers in an evaluation; let the variant's set take the question out"
}

// permanent says that a provider's error will be that of the next call too.
// always is false for those that may be the case's own fault, and are the
// provider's only while nothing else was seen.
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

// itsOwn says that a provider's error may be due to what this case asks.
func itsOwn(e *model.Error) bool {
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

// modelError is the error of a model that err wraps, or nil.
func modelError(err error) *model.Error {
	e, _ := errors.AsType[*model.Error](err)
	return e
}
