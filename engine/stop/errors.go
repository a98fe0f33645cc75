package stop

import (
	"fmt"

	"github.com/pexctl/pex/engine/model"
)

// Error ends a run from inside a node: a limit, a guard, a failure that
// has a stop code. Nodes pass it on; Scope returns it from every effect once
// the run is stopping.
type Error struct {
	Reason Reason
	Cause  *model.Error // the failed call behind a ProviderError; else nil
}

// Error names the stop code and the message.
func (e *Error) Error() string {
	if e.Reason.Message == "" {
		return string(e.Reason.Code)
	}
	return fmt.Sprintf("%s: %s", e.Reason.Code, e.Reason.Message)
}

// Fail makes the error that ends a run with a failure code.
func Fail(code Code, path, format string, args ...any) error {
	return &Error{Reason: Reason{Code: code, Path: path, Message: fmt.Sprintf(format, args...), Status: RunFailed}}
}

// ProviderFailed makes the error that ends a run because a model call failed.
func ProviderFailed(cause *model.Error, path, format string, args ...any) error {
	return &Error{
		Reason: Reason{Code: ProviderError, Path: path, Message: fmt.Sprintf(format, args...), Status: RunFailed},
		Cause:  cause,
	}
}

// Denied makes the error that ends a run because a person said no.
func Denied(path, message string) error {
	return &Error{Reason: Reason{Code: Cancelled, Path: path, Message: message, Status: RunCancelled}}
}

// AtLimit makes the error that ends a run at one of its limits.
func AtLimit(code Code, path, format string, args ...any) error {
	return &Error{Reason: Reason{Code: code, Path: path, Message: fmt.Sprintf(format, args...), Status: RunStopped}}
}
