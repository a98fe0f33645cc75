package ui

import (
	"fmt"
	"io"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/stop"
)

// Exit codes, the same for every command (docs/reference/exit-codes.md).
const (
	ExitOK          = 0
	ExitNegative    = 1   // run failed, test failed, gate failed
	ExitUsage       = 2   // usage or spec invalid
	ExitInfra       = 3   // provider, store, tool server
	ExitLimited     = 4   // stopped by a limit, or inconclusive; for a run see RunExitCode
	ExitWaiting     = 5   // a run waits for an answer
	ExitHungUp      = 129 // suspended by SIGHUP
	ExitInterrupted = 130 // suspended by Ctrl-C
	ExitTerminated  = 143 // suspended by SIGTERM
)

// ExitError ends a command with an exit code. A nil err was already printed.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// Exit returns an error that ends a command with an exit code. A nil err was
// already printed.
func Exit(code int, err error) error { return &ExitError{code, err} }

// Printed returns the error that ends a command with the exit code of one that was already
// printed.
func Printed(err error) error { return Exit(exitOf(err).Code, nil) }

// Invalid returns the error for diagnostics that were already shown, or nil if
// they contain no error.
func Invalid(found diag.List) error {
	if found.Failed() {
		return Exit(ExitUsage, nil)
	}
	return nil
}

// RunExitCode returns the exit code for the end of a run.
func RunExitCode(r stop.Reason, status stop.RunStatus) int {
	switch status {
	case stop.RunCompleted:
		return ExitOK
	case stop.RunStopped:
		return ExitLimited
	case stop.RunInterrupted:
		switch r.Code {
		case stop.Suspended:
			return ExitInterrupted
		case stop.StoreUnavailable, stop.StoreFull, stop.StoreCorrupt:
			return ExitInfra
		default:
			return ExitWaiting
		}
	case stop.RunFailed, stop.RunCancelled: // by the reason
	}
	switch r.Code {
	case stop.ProviderError, stop.ToolsChanged, stop.StoreUnavailable, stop.StoreFull, stop.StoreCorrupt:
		return ExitInfra
	default:
		return ExitNegative
	}
}

// RunExit returns the error for the end of a run, or nil if it completed.
func RunExit(res *engine.Result) error {
	if code := RunExitCode(res.StopReason, res.Status); code != ExitOK {
		return Exit(code, nil)
	}
	return nil
}

// PrintError prints an error and returns the exit code.
func PrintError(err error, w io.Writer) int {
	if err == nil {
		return ExitOK
	}
	f := reportOf(err)
	if f.printed {
		return f.Exit
	}
	fmt.Fprintln(w, "pexctl:", err)
	if f.Hint != "" {
		fmt.Fprintln(w, "  hint:", f.Hint)
	}
	return f.Exit
}
