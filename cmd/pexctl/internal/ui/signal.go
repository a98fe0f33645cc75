package ui

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// Causes of a context that a signal other than SIGINT canceled.
var (
	errTerminated = errors.New("terminated")
	errHungUp     = errors.New("hung up")
)

// suspendSignals lists the signals that suspend a command, with the cause of the
// context and the exit code.
var suspendSignals = []struct {
	signal os.Signal
	cause  error
	code   int
}{
	{os.Interrupt, context.Canceled, ExitInterrupted},
	{syscall.SIGTERM, errTerminated, ExitTerminated},
	{syscall.SIGHUP, errHungUp, ExitHungUp}, // the terminal or connection was closed
}

// OnSignal cancels the context at the first signal that suspends, and calls tell.
// The second signal ends the process. stop restores the signals.
func OnSignal(parent context.Context, tell func()) (ctx context.Context, stop func()) {
	signals := make(chan os.Signal, 2)
	for _, s := range suspendSignals {
		if !signal.Ignored(s.signal) || s.signal != syscall.SIGHUP { // nohup and detached runs ignore it
			signal.Notify(signals, s.signal)
		}
	}
	return onSignal(parent, signals, tell)
}

// OnTermination is OnSignal without SIGHUP, for a command that does not need its terminal.
func OnTermination(parent context.Context, tell func()) (ctx context.Context, stop func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	return onSignal(parent, signals, tell)
}

func onSignal(parent context.Context, signals chan os.Signal, tell func()) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	done := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			cancel(causeOf(s))
			tell()
		case <-done:
			return
		}
		select {
		case s := <-signals:
			os.Exit(SignalCode(causeOf(s)))
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}

func causeOf(s os.Signal) error {
	for _, known := range suspendSignals {
		if known.signal == s {
			return known.cause
		}
	}
	return context.Canceled
}

// SignalCode returns the exit code for the cause of a context. For other causes
// it is that of Ctrl-C.
func SignalCode(cause error) int {
	for _, known := range suspendSignals {
		if errors.Is(cause, known.cause) {
			return known.code
		}
	}
	return ExitInterrupted
}

// IgnoreBrokenPipe makes a write to a closed pipe an ordinary error, so that a run
// continues and completes its journal after the reader of its progress has
// exited.
func IgnoreBrokenPipe() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}

// SignalError returns the error of a command that a signal stopped.
func SignalError(ctx context.Context, err error) error {
	return Exit(SignalCode(context.Cause(ctx)), err)
}
