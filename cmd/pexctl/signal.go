package main

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
	{os.Interrupt, context.Canceled, exitInterrupted},
	{syscall.SIGTERM, errTerminated, exitTerminated},
	{syscall.SIGHUP, errHungUp, exitHungUp}, // the terminal was closed, or the connection lost
}

// onSignal cancels the context at the first signal that suspends, and calls tell;
// the second one ends the process. stop restores the signals.
func onSignal(parent context.Context, tell func()) (ctx context.Context, stop func()) {
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
			os.Exit(signalCode(causeOf(s)))
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

// signalCode returns the exit code of a command whose context has this cause:
// that of Ctrl-C where it is no other signal's.
func signalCode(cause error) int {
	for _, known := range suspending {
		if errors.Is(cause, known.cause) {
			return known.code
		}
	}
	return exitInterrupted
}

// keepPipes makes a write to a closed pipe an error like any other: a run goes
// on, and is whole in its journal, when who reads its progress has gone.
func keepPipes() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}
