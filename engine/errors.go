package engine

import (
	"errors"
	"fmt"
)

// StopError ends a run from inside a node: a limit, a guard, a failure that
// has a stop code. Nodes pass it on; Scope returns it from every effect once
// the run is stopping.
type StopError struct {
	Reason StopReason
	model  *ModelError // the failed call behind a provider_error
}

// Error names the stop code and the message.
func (e *StopError) Error() string {
	if e.Reason.Message == "" {
		return string(e.Reason.Code)
	}
	return fmt.Sprintf("%s: %s", e.Reason.Code, e.Reason.Message)
}

// ErrReplan is returned by a node that wants the plan looked at now: the walk
// goes on where Program.Replanner says.
var ErrReplan = errors.New("the plan is to be looked at")

// ReplanError is the ErrReplan of a guard, which wants a new plan now: whoever
// makes it is told the message. Where nobody in the graph plans, it ends the run
// as a guard that stops it.
type ReplanError struct {
	Path    string // of the guard
	Message string
}

// Error gives the message.
func (e *ReplanError) Error() string { return e.Message }

// Unwrap makes it an ErrReplan.
func (e *ReplanError) Unwrap() error { return ErrReplan }

// Fail makes the error that ends a run with a failure code.
func Fail(code StopCode, path, format string, args ...any) error {
	return &StopError{Reason: StopReason{Code: code, Path: path, Message: fmt.Sprintf(format, args...), Status: Failed}}
}

// NoProvider makes the error that ends a run because a model call failed.
func NoProvider(cause *ModelError, path, format string, args ...any) error {
	return &StopError{
		Reason: StopReason{Code: StopProviderError, Path: path, Message: fmt.Sprintf(format, args...), Status: Failed},
		model:  cause,
	}
}

// Denied makes the error that ends a run because a person said no.
func Denied(path, message string) error {
	return &StopError{Reason: StopReason{Code: StopCancelled, Path: path, Message: message, Status: Cancelled}}
}

// AtLimit makes the error that ends a run at one of its limits.
func AtLimit(code StopCode, path, format string, args ...any) error {
	return &StopError{Reason: StopReason{Code: code, Path: path, Message: fmt.Sprintf(format, args...), Status: Stopped}}
}

// ExitCode is the exit code of a result (DESIGN sections 6 and 10).
func (r StopReason) ExitCode(status RunStatus) int {
	switch status {
	case Completed:
		return 0
	case Stopped:
		return 4
	case Interrupted:
		switch r.Code {
		case StopSuspended:
			return 130
		case StopStoreUnavailable, StopStoreFull, StopStoreCorrupt:
			return 3
		default:
			return 5
		}
	case Failed, Cancelled: // the code tells
	}
	switch r.Code {
	case StopProviderError, StopToolsChanged, StopStoreUnavailable, StopStoreFull, StopStoreCorrupt:
		return 3
	default:
		return 1
	}
}
