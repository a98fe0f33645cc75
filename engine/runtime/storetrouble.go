package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/stop"
)

// storeTrouble makes an error of the memory one that suspends the session, unless
// the memory refused what it was given: then no later attempt does better, and
// the error stays what it is.
func storeTrouble(doing string, err error) error {
	if _, refused := errors.AsType[*memory.RefusedError](err); err == nil || refused {
		return err
	}
	return &kernel.Unavailable{Err: fmt.Errorf("%s: %w", doing, err)}
}

// recordedCode is the stop code of a memory's error in a journal. Earlier
// versions ended a run with one, and kept its code.
func recordedCode(err error) stop.Code {
	f, _ := errors.AsType[*journal.Failure](err)
	if f != nil && (f.Code == string(stop.StoreFull) || f.Code == string(stop.StoreCorrupt)) {
		return stop.Code(f.Code)
	}
	return stop.Internal
}

// sessionError is the memory's trouble with a tool's notes or variables. The
// call fails and the run goes on, with a warning.
type sessionError struct{ err error }

func (e *sessionError) Error() string { return e.err.Error() }
func (e *sessionError) Unwrap() error { return e.err }

func sessionTrouble(err error) error {
	if _, refused := errors.AsType[*memory.RefusedError](err); err == nil || refused {
		return err
	}
	return &sessionError{err}
}

// boundStore bounds the wait for a memory that other processes use by
// limits.max_duration.
func (r *run) boundStore(ctx context.Context) (context.Context, context.CancelFunc) {
	if d := r.program.Limits.MaxDuration; d > 0 {
		return context.WithTimeout(ctx, d)
	}
	return context.WithCancel(ctx)
}

// storeCode is the stop code of an error of the memory or of the journal.
func storeCode(err error) stop.Code {
	var coded interface{ StopCode() stop.Code }
	switch {
	case errors.As(err, &coded):
		return coded.StopCode()
	case errors.Is(err, journal.ErrFull):
		return stop.StoreFull
	case errors.Is(err, journal.ErrCorrupt):
		return stop.StoreCorrupt
	default:
		return stop.StoreUnavailable
	}
}
