package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/pexctl/pex/dsl/diag"
)

// The exit codes, the same for every command (DESIGN section 10).
const (
	exitOK       = 0
	exitNegative = 1 // run failed, test failed, gate failed
	exitUsage    = 2 // usage or spec invalid
	exitInfra    = 3 // provider, store, tool server
	exitLimited  = 4 // stopped by a limit, or inconclusive; of a run: engine.StopReason.ExitCode
	// 5, waiting for a person, is a run's alone: engine.StopReason.ExitCode gives it.
	exitInterrupted = 130 // suspended by Ctrl-C
	exitTerminated  = 143 // suspended by SIGTERM
)

// exitError ends a command with a code. A nil err was already told.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usage is the caller's mistake.
func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// infra is the machine's or a server's fault.
func infra(err error) error { return &exitError{exitInfra, err} }

// invalid says that diagnostics were shown already, unless there is no error
// among them.
func invalid(found diag.List) error {
	if found.Failed() {
		return &exitError{exitUsage, nil}
	}
	return nil
}

// exitCode tells what went wrong and gives the exit code.
func exitCode(err error, w io.Writer) int {
	if err == nil {
		return exitOK
	}
	var e *exitError
	if !errors.As(err, &e) {
		e = &exitError{exitUsage, err} // what the flag parser says
	}
	if e.err != nil {
		fmt.Fprintln(w, "pexctl:", err) // also what was said around it
	}
	return e.code
}
