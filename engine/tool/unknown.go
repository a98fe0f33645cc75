package tool

import (
	"errors"
)

// UnavailableError is the failure of a call whose tool cannot be reached or does
// not answer: another call would fare no better.
type UnavailableError struct{ Err error }

// Error implements error.
func (e *UnavailableError) Error() string { return e.Err.Error() }

// Unwrap gives what was in the way.
func (e *UnavailableError) Unwrap() error { return e.Err }

// Unavailable marks a tool's error as its service's trouble.
func Unavailable(err error) error { return &UnavailableError{err} }

// UnknownOutcomeError is the failure of a call that began and has no definite
// answer, so that it may have taken effect: the process was killed, the
// connection broke after the request was sent, the server was lost.
type UnknownOutcomeError struct{ Err error }

// Error implements error.
func (e *UnknownOutcomeError) Error() string { return e.Err.Error() }

// Unwrap returns what went wrong.
func (e *UnknownOutcomeError) Unwrap() error { return e.Err }

// UnknownOutcome marks the error of a call that may have taken effect.
func UnknownOutcome(err error) error { return &UnknownOutcomeError{err} }

// DefiniteError is the failure of a call whose outcome is known, although its
// time may have run out: it had not begun, it was refused, or it was undone.
type DefiniteError struct{ Err error }

// Error implements error.
func (e *DefiniteError) Error() string { return e.Err.Error() }

// Unwrap returns what went wrong.
func (e *DefiniteError) Unwrap() error { return e.Err }

// Definite marks the error of a call whose outcome is known. Without the mark, a
// call that was stopped by its timeout counts as one that may have taken effect.
func Definite(err error) error { return &DefiniteError{err} }

// OnUnknown is what a run does about a write whose outcome is unknown.
type OnUnknown string

// The values of a tool's on_unknown; the zero value is ReviewUnknown.
const (
	ReviewUnknown   OnUnknown = "review"   // the run waits until a person has decided
	ContinueUnknown OnUnknown = "continue" // the model reads that the call may have taken effect
)

// CodeUnknownOutcome is the code of a write whose outcome is unknown, in a run that
// continues.
const CodeUnknownOutcome = "unknown_outcome"

// MayHaveEffect reports whether a call that failed with err may have taken
// effect; stopped says that it was ended from outside.
func MayHaveEffect(err error, stopped bool) bool {
	if _, ok := errors.AsType[*UnknownOutcomeError](err); ok {
		return true
	}
	_, known := errors.AsType[*DefiniteError](err)
	return stopped && !known
}
