package tool

import (
	"errors"
)

// UnavailableError reports that a tool cannot be reached or does not answer, so other
// calls would fail too.
type UnavailableError struct{ Err error }

// Error implements error.
func (e *UnavailableError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }

// Unavailable marks an error as a failure of the tool's service.
func Unavailable(err error) error { return &UnavailableError{err} }

// UnknownOutcomeError reports that a call started and has no definite answer, so that it
// may have taken effect: the process was killed, the connection broke after the request
// was sent, the server was lost.
type UnknownOutcomeError struct{ Err error }

// Error implements error.
func (e *UnknownOutcomeError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnknownOutcomeError) Unwrap() error { return e.Err }

// UnknownOutcome marks the error of a call that may have taken effect.
func UnknownOutcome(err error) error { return &UnknownOutcomeError{err} }

// DefiniteError reports that the outcome of a failed call is known, even if it timed out:
// it had not started, was rejected, or was undone.
type DefiniteError struct{ Err error }

// Error implements error.
func (e *DefiniteError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *DefiniteError) Unwrap() error { return e.Err }

// Definite marks the error of a call whose outcome is known. Without it, a call that
// timed out counts as one that may have taken effect.
func Definite(err error) error { return &DefiniteError{err} }

// OnUnknown is how a run handles a write whose outcome is unknown.
type OnUnknown string

// The values of a tool's on_unknown; the zero value is ReviewUnknown.
const (
	ReviewUnknown   OnUnknown = "review"   // the run waits for a human's decision
	ContinueUnknown OnUnknown = "continue" // the model is informed that the call may have taken effect
)

// CodeUnknownOutcome is the failure code of a write whose outcome is unknown in a run
// that continues.
const CodeUnknownOutcome = "unknown_outcome"

// MayHaveEffect reports whether a call that failed with err may have taken effect;
// stopped reports that it was interrupted.
func MayHaveEffect(err error, stopped bool) bool {
	if _, ok := errors.AsType[*UnknownOutcomeError](err); ok {
		return true
	}
	_, known := errors.AsType[*DefiniteError](err)
	return stopped && !known
}
