package runcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/app/failure"
)

// watch follows a run, and ends like `run`. Ctrl-C stops watching, not the run.
func (f *showFlags) watch(c *ui.Call, s *runs.Service, run string) error {
	ctx, stop := ui.OnSignal(c.Context, func() {})
	defer stop()
	for {
		w, err := newProgress(c, f.outputFlags, false)
		if err != nil {
			return err
		}
		res, err := s.Follow(ctx, run, w.sinks...)
		if cerr := w.close(); err == nil && cerr != nil {
			return failure.Infra(cerr)
		}
		switch {
		case errors.Is(err, runs.ErrRewound):
			fmt.Fprintf(c.Stderr, "Run %s continues with other limits; starting over:\n", run)
		case err != nil:
			return project.RunError(c, s, err)
		case ctx.Err() != nil:
			return f.printStillRunning(ctx, c, s, run)
		default:
			return f.printEnded(c, s.Dir(), res)
		}
	}
}

// printEnded prints the answer of a run that has ended, or its open questions.
func (f *showFlags) printEnded(c *ui.Call, home string, res *engine.Result) error {
	if !f.conversation {
		res.Conversation = nil
	}
	err := printResult(c, res, "", f.outputFlags)
	if !f.quiet {
		printStored(c, home, res)
		for _, line := range resumeHint(c, home, res) {
			fmt.Fprintln(c.Stderr, line)
		}
	}
	return err
}

// printStillRunning says that the run continues although it is no longer followed.
func (f *showFlags) printStillRunning(ctx context.Context, c *ui.Call, s *runs.Service, run string) error {
	if pid, held := s.Home().Holder(run); held && !f.quiet {
		fmt.Fprintf(c.Stderr, "Run %s is still running (pid %d). Follow it again: pexctl runs show %[1]s --follow%[3]s\n", run, pid, project.HomeArgument(c, s.Dir()))
	}
	return ui.Exit(ui.SignalCode(context.Cause(ctx)), nil)
}
