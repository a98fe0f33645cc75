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

// watch shows a run as it unfolds, and ends as `run` would have ended. Who stops
// to watch does nothing to the run.
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
			fmt.Fprintf(c.Stderr, "run %s goes on with other limits; from its beginning:\n", run)
		case err != nil:
			return project.RunError(c, s, err)
		case ctx.Err() != nil:
			return f.left(ctx, c, s, run)
		default:
			return f.ended(c, s.Dir(), res)
		}
	}
}

// ended prints the answer of a run that has ended, or what it waits for.
func (f *showFlags) ended(c *ui.Call, home string, res *engine.Result) error {
	if !f.conversation {
		res.Conversation = nil
	}
	err := printResult(c, res, f.outputFlags)
	if !f.quiet {
		noteStored(c, home, res)
		for _, line := range resumeHint(c, home, res) {
			fmt.Fprintln(c.Stderr, line)
		}
	}
	return err
}

// left says that a run continues though nobody follows it.
func (f *showFlags) left(ctx context.Context, c *ui.Call, s *runs.Service, run string) error {
	if pid, held := s.Home().Holder(run); held && !f.quiet {
		fmt.Fprintf(c.Stderr, "run %s goes on (pid %d); pexctl runs show %[1]s --follow%[3]s watches it again\n", run, pid, project.HomeArgument(c, s.Dir()))
	}
	return ui.Exit(ui.SignalCode(context.Cause(ctx)), nil)
}
