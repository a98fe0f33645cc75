package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// errTerminated is the cause of a context that SIGTERM ended.
var errTerminated = errors.New("terminated")

// onSignal ends the context at the first SIGINT or SIGTERM, and tells so, and
// the process at the second. stop gives the signals back.
func onSignal(parent context.Context, tell func()) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			if s == syscall.SIGTERM {
				cancel(errTerminated)
			} else {
				cancel(context.Canceled)
			}
			tell()
		case <-done:
			return
		}
		select {
		case s := <-signals:
			if s == syscall.SIGTERM {
				os.Exit(exitTerminated)
			}
			os.Exit(exitInterrupted)
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}

// keepPipes makes a write to a closed pipe an error like any other: a run goes
// on, and is whole in its journal, when who reads its progress has gone.
func keepPipes() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}
