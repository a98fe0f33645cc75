package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/providers/badger"
)

// grace is how long what is under way may go on after the first Ctrl-C.
const grace = 5 * time.Second

// session is one go at a run: a new one, or one that is resumed.
type session struct {
	c       *ui.Call
	json    bool
	resumed bool   // earlier sessions ran the run
	dir     string // the home
	home    *journal.Home
	file    *journal.File
	journal journal.Journal // the file, or what also records it
	program *engine.Program
	host    engine.Host
	input   engine.Input
	options engine.Options
	hints   func(*engine.Result) []string // what to try next
	closes  []func() error
}

// sessionFlags are the flags of every command that runs a run.
func sessionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "record", Usage: "write the run's journal to a cassette `FILE`, without secrets"},
		&cli.StringFlag{Name: "events", Usage: "write every event as a JSON line to `FILE` (- for stdout)"},
		&cli.StringSliceFlag{Name: "include", Usage: "add to the JSON result: `PART` conversation"},
		&cli.BoolFlag{Name: "no-stream", Usage: "ask models for whole replies"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "no progress on stderr"},
		ui.OutputFlag(), homeFlag(),
	}
}

// run runs the run, closes everything, and prints how it ended.
func (s *session) run() error {
	c := s.c
	watch, err := newWatch(c, s.json, s.resumed)
	if err != nil {
		return errors.Join(err, s.close())
	}
	s.host.Sinks, s.host.People = watch.sinks, watch.people
	ctx, stop := ui.OnSignal(c.Context, func() {
		watch.note("suspending after the calls in flight (Ctrl-C again to stop now). Resume with: pexctl resume " + s.input.RunID + homeArgument(c, s.dir))
	})
	defer stop()
	if m, ok := s.host.Memory.(*badger.Store); ok && !c.Bool("quiet") {
		m.ReportWaits(func(w badger.Wait) { watch.note(waitNote(w)) })
	}
	o := s.options
	o.Journal, o.Stream, o.Grace, o.Version = s.journal, !c.Bool("no-stream"), grace, buildVersion()
	o.Conversation = slices.Contains(c.StringSlice("include"), conversation)
	cancel := s.watchCancel()
	o.By, o.Cancel, o.CancelledBy = thisUser(), cancel.asked, cancel.by
	res := engine.Run(ctx, s.program, s.input, s.host, o)
	cancel.stop()
	if r := s.options.Recorded; r != nil && s.input.From.Until == 0 && (res.Status == engine.Completed || res.Status == engine.Stopped) {
		if unused := r.Unused(); len(unused) > 0 {
			res.Warnings = append(res.Warnings, unusedNote(unused))
			watch.note("warning: " + unusedNote(unused))
		}
	}
	s.unbegun(res)
	s.file.SetHead(headOf(s.input, res))
	lost := errors.Join(watch.close(), s.close())
	err = s.tell(res)
	switch {
	case lost != nil && err == nil:
		err = failure.Infra(lost)
	case lost != nil: // how the run ended matters more
		fmt.Fprintln(c.Stderr, "pexctl:", lost)
	}
	if code := ui.SignalCode(context.Cause(ctx)); res.StopReason.Code == engine.StopSuspended && code != ui.ExitInterrupted {
		err = ui.Exit(code, nil)
	}
	return err
}

// unbegun corrects the result of a run whose first record could not be written:
// there is no run to resume.
func (s *session) unbegun(res *engine.Result) {
	if res.Resumes && !s.file.Begun() {
		res.Status = engine.Failed
		res.StopReason.Message += "; nothing of the run was stored: run it again"
		res.Error = res.StopReason.Message
	}
}

// tell prints the result and what to do next, and gives the exit code.
func (s *session) tell(res *engine.Result) error {
	err := answer(s.c, res, s.json)
	if res.Miss != nil {
		s.explainMiss(res.Miss)
	}
	quiet := s.c.Bool("quiet")
	if !quiet {
		noteStored(s.c, s.dir, res)
	}
	if !quiet || !s.json {
		for _, line := range goOn(s.c, s.dir, res) {
			fmt.Fprintln(s.c.Stderr, line)
		}
	}
	if !quiet && !s.json && s.hints != nil {
		ui.PrintHints(s.c.Stderr, s.hints(res))
	}
	return err
}

// noteStored says where a run that has ended is stored.
func noteStored(c *ui.Call, home string, res *engine.Result) {
	if res.Status != engine.Interrupted && !res.Resumes {
		fmt.Fprintf(c.Stderr, "stored in %s; details: pexctl runs show %s%s\n", fspath.Relative(home), res.RunID, homeArgument(c, home))
	}
}

func (s *session) close() error {
	var errs []error
	if memory, ok := s.host.Memory.(io.Closer); ok {
		errs = append(errs, memory.Close())
	}
	errs = append(errs, s.host.Close())
	for _, f := range s.closes {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// homeArgument names the home where commands would not find it by themselves.
func homeArgument(c *ui.Call, home string) string {
	if !c.IsSet("home") {
		if here, err := homeHere(c); err == nil && fspath.Same(here, home) {
			return ""
		}
	}
	return " --home " + fspath.Quote(fspath.Relative(home))
}
