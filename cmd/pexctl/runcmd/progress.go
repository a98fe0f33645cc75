package runcmd

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/pexctl/pex/builtins/sink"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/internal/app/failure"
)

// progress shows a run while it executes: on stderr, and as events in a file.
type progress struct {
	sinks  []engine.Sink
	note   func(string) // prints a line above the progress
	person interrupt.Responder
	closes []func() error
}

// newProgress opens the outputs that the flags select. again reports that an
// earlier session started the run: events are appended to its file.
func newProgress(c *ui.Call, f outputFlags, again bool) (*progress, error) {
	w := &progress{note: func(s string) { fmt.Fprintln(c.Stderr, s) }}
	if f.events != "" {
		if f.events == ui.FromStdin && f.json {
			return nil, failure.Usagef("--events - and -o json cannot both go to stdout; use --events FILE")
		}
		if err := w.events(c, f.events, again); err != nil {
			return nil, err
		}
	}
	if !f.quiet {
		w.draw(c)
	}
	return w, nil
}

func (w *progress) events(c *ui.Call, name string, again bool) error {
	if name == "-" {
		w.sinks = append(w.sinks, sink.NewJSONL(ui.ForPrograms(c.Stdout)))
		return nil
	}
	how := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if again {
		how = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	f, err := os.OpenFile(name, how, 0o600)
	if err != nil {
		return failure.Usagef("--events: %w", err)
	}
	lines := sink.NewJSONL(f)
	w.sinks = append(w.sinks, lines)
	w.closes = append(w.closes, func() error { return errors.Join(lines.Err(), f.Close()) })
	return nil
}

// draw draws a live tree on a terminal and writes plain lines elsewhere.
func (w *progress) draw(c *ui.Call) {
	f, ok := ui.Terminal(c.Stderr)
	if c.Tracing() {
		w.log(c, f)
		return
	}
	if !ok || os.Getenv("TERM") == "dumb" {
		lines := sink.NewLines(c.Stderr)
		w.sinks, w.note = append(w.sinks, lines), lines.Note
		return
	}
	size := func() (int, int) {
		columns, rows, err := term.GetSize(int(f.Fd()))
		if err != nil || columns <= 0 {
			return 80, 24
		}
		return columns, rows
	}
	tree := sink.NewTree(f, size, time.Now, ui.UsesColor(c.Stderr))
	w.sinks, w.note = append(w.sinks, tree), tree.Note
	tick := time.NewTicker(120 * time.Millisecond)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-tick.C:
				tree.Tick()
			case <-done:
				return
			}
		}
	}()
	w.closes = append(w.closes, func() error {
		tick.Stop()
		close(done)
		tree.Close()
		return nil
	})
	if in, ok := ui.Terminal(c.Stdin); ok {
		w.person = &ui.Person{In: bufio.NewReader(in), Out: f, Pause: tree.Pause}
	}
}

// log writes a line for every event. terminal is where questions are asked, or
// nil.
func (w *progress) log(c *ui.Call, terminal *os.File) {
	lines := sink.NewVerbose(c.Stderr, time.Now)
	w.sinks, w.note = append(w.sinks, lines), lines.Note
	if in, ok := ui.Terminal(c.Stdin); ok && terminal != nil {
		w.person = &ui.Person{In: bufio.NewReader(in), Out: terminal, Pause: func(ask func()) { ask() }}
	}
}

func (w *progress) close() error {
	var errs []error
	for _, f := range w.closes {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}
