package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// onSignal ends the context at the first SIGINT or SIGTERM, and tells so, and
// the process at the second. stop gives the signals back.
func onSignal(parent context.Context, tell func()) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
			cancel()
			tell()
		case <-done:
			return
		}
		select {
		case s := <-signals:
			code := 130
			if s == syscall.SIGTERM {
				code = 143
			}
			os.Exit(code)
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel()
	}
}

// keepPipes makes a write to a closed pipe an error like any other: a run goes
// on, and is whole in its journal, when who reads its progress has gone.
func keepPipes() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}
