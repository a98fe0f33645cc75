package main

import (
	"fmt"
	"io"

	"github.com/pexctl/pex/dsl/diag"
)

// The exit codes, the same for every command (docs/reference/exit-codes.md).
const (
	exitOK       = 0
	exitNegative = 1 // run failed, test failed, gate failed
	exitUsage    = 2 // usage or spec invalid
	exitInfra    = 3 // provider, store, tool server
	exitLimited  = 4 // stopped by a limit, or inconclusive; of a run: engine.StopReason.ExitCode
	// 5, waiting for a person, is a run's alone: engine.StopReason.ExitCode gives it.
	exitHungUp      = 129 // suspended by SIGHUP
	exitInterrupted = 130 // suspended by Ctrl-C
	exitTerminated  = 143 // suspended by SIGTERM
)

// exitError ends a command with an exit code. A nil err was already printed.
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

// problem adds to an error what its message does not say.
type problem struct {
	err  error
	code string // for programs; "" = the one of the exit code
	hint string // the way out, often a command; "" = none
}

func (p *problem) Error() string { return p.err.Error() }

func (p *problem) Unwrap() error { return p.err }

// withHint adds the way out to an error.
func withHint(err error, format string, args ...any) error {
	return &problem{err: err, hint: fmt.Sprintf(format, args...)}
}

// notFound is the caller's mistake of naming something that does not exist.
func notFound(hint, format string, args ...any) error {
	return &problem{usage(format, args...), "not_found", hint}
}

// invalid says that diagnostics were shown already, unless there is no error
// among them.
func invalid(found diag.List) error {
	if found.Failed() {
		return &exitError{exitUsage, nil}
	}
	return nil
}

// exitCode prints an error and returns the exit code.
func exitCode(err error, w io.Writer) int {
	if err == nil {
		return exitOK
	}
	f := failureOf(err)
	if f.printed {
		return f.Exit
	}
	fmt.Fprintln(w, "pexctl:", err)
	if f.Hint != "" {
		fmt.Fprintln(w, "  hint:", f.Hint)
	}
	return f.Exit
}
