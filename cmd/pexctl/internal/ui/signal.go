package ui

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// Causes of a context that a signal other than SIGINT ended.
var (
	errTerminated = errors.New("terminated")
	errHungUp     = errors.New("hung up")
)

// suspending lists the signals that suspend a command, with the cause that its
// context then has and its exit code.
var suspending = []struct {
	signal os.Signal
	cause  error
	code   int
}{
	{os.Interrupt, context.Canceled, ExitInterrupted},
	{syscall.SIGTERM, errTerminated, ExitTerminated},
	{syscall.SIGHUP, errHungUp, ExitHungUp}, // the terminal was closed, or the connection lost
}

// OnSignal cancels the context at the first signal that suspends, and calls tell;
// the second one ends the process. stop restores the signals.
func OnSignal(parent context.Context, tell func()) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	for _, s := range suspending {
		if !signal.Ignored(s.signal) || s.signal != syscall.SIGHUP { // nohup ignores it, and a detached run does
			signal.Notify(signals, s.signal)
		}
	}
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
	for _, known := range suspending {
		if known.signal == s {
			return known.cause
		}
	}
	return context.Canceled
}

// SignalCode returns the exit code of a command whose context has this cause:
// that of Ctrl-C where it is no other signal's.
func SignalCode(cause error) int {
	for _, known := range suspending {
		if errors.Is(cause, known.cause) {
			return known.code
		}
	}
	return ExitInterrupted
}

// KeepPipes makes a write to a closed pipe an error like any other: a run goes
// on, and is whole in its journal, when who reads its progress has gone.
func KeepPipes() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}

// StoppedBy is the end of a command that a signal stopped.
func StoppedBy(ctx context.Context, err error) error {
	return Exit(SignalCode(context.Cause(ctx)), err)
}
