package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// storeTrouble makes an error of the memory one that suspends the session, unless
// the memory refused what it was given: then no later attempt does better, and
// the error stays what it is.
func storeTrouble(doing string, err error) error {
	if _, refused := errors.AsType[*RefusedError](err); err == nil || refused {
		return err
	}
	return &kernel.Unavailable{Err: fmt.Errorf("%s: %w", doing, err)}
}

// recordedCode is the stop code of a memory's error in a journal. Earlier
// versions ended a run with one, and kept its code.
func recordedCode(err error) StopCode {
	f, _ := errors.AsType[*journal.Failure](err)
	if f != nil && (f.Code == string(StopStoreFull) || f.Code == string(StopStoreCorrupt)) {
		return StopCode(f.Code)
	}
	return StopInternal
}

// sessionError is the memory's trouble with a tool's notes or variables. The
// call fails and the run goes on, with a warning.
type sessionError struct{ err error }

func (e *sessionError) Error() string { return e.err.Error() }
func (e *sessionError) Unwrap() error { return e.err }

func sessionTrouble(err error) error {
	if _, refused := errors.AsType[*RefusedError](err); err == nil || refused {
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
func storeCode(err error) StopCode {
	var coded interface{ StopCode() StopCode }
	switch {
	case errors.As(err, &coded):
		return coded.StopCode()
	case errors.Is(err, journal.ErrFull):
		return StopStoreFull
	case errors.Is(err, journal.ErrCorrupt):
		return StopStoreCorrupt
	default:
		return StopStoreUnavailable
	}
}
