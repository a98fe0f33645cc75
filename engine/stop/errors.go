package stop

import (
	"fmt"

	"github.com/pexctl/pex/engine/model"
)

// Error ends a run from within a node: a limit, a guard, or a failure with a stop code.
// Nodes return it; Scope returns it from every effect once the run is stopping.
type Error struct {
	Reason Reason
	Cause  *model.Error // failed call of a ProviderError; else nil
}

// Error returns the stop code and the message.
func (e *Error) Error() string {
	if e.Reason.Message == "" {
		return string(e.Reason.Code)
	}
	return fmt.Sprintf("%s: %s", e.Reason.Code, e.Reason.Message)
}

// Fail returns an error that ends a run as failed.
func Fail(code Code, path, format string, args ...any) error {
	return &Error{Reason: Reason{Code: code, Path: path, Message: fmt.Sprintf(format, args...), Status: RunFailed}}
}

// ProviderFailed returns an error that ends a run because a model call failed.
func ProviderFailed(cause *model.Error, path, format string, args ...any) error {
	return &Error{
		Reason: Reason{Code: ProviderError, Path: path, Message: fmt.Sprintf(format, args...), Status: RunFailed},
		Cause:  cause,
	}
}

// Denied returns an error that ends a run because a human denied something.
func Denied(path, message string) error {
	return &Error{Reason: Reason{Code: Cancelled, Path: path, Message: message, Status: RunCancelled}}
}

// AtLimit returns an error that ends a run at one of its limits.
func AtLimit(code Code, path, format string, args ...any) error {
	return &Error{Reason: Reason{Code: code, Path: path, Message: fmt.Sprintf(format, args...), Status: RunStopped}}
}
