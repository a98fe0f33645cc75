package runcmd

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/fleet"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/internal/app/bundle"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/homedir"
	"github.com/pexctl/pex/internal/app/version"
	"github.com/pexctl/pex/providers/temporal"
	"github.com/pexctl/pex/providers/temporal/attribute"
)

// onFleet reports whether a command is for runs on Temporal.
func onFleet(c *ui.Call) (bool, error) {
	driver := c.String("driver")
	if err := project.CheckDriver(driver); err != nil {
		return false, err
	}
	return driver == project.TemporalDriver, nil
}

// fleetFlags are the flags of commands that can use Temporal.
func fleetFlags() []cli.Flag {
	return append([]cli.Flag{project.DriverFlag()}, fleet.Flags(ui.GroupRunning)...)
}

// resumeOnFleet answers questions of a run that workers execute, and follows it.
func resumeOnFleet(c *ui.Call, answers []runs.Answer, f sessionFlags) error {
	if len(c.Set) > 0 || f.record != "" {
		return failure.Usagef("--set and --record are for runs of this process")
	}
	r, err := openRunOnFleet(c)
	if err != nil {
		return err
	}
	defer r.end()
	return r.resume(c.Arg(0), answers, f)
}

// cancelOnFleet cancels a run that workers execute.
func cancelOnFleet(c *ui.Call) error {
	r, err := openRunOnFleet(c)
	if err != nil {
		return err
	}
	defer r.end()
	if err := r.Driver.Cancel(c.Context, c.Tenant, c.Arg(0), project.User()); err != nil {
		return r.fail(c.Arg(0), err)
	}
	return r.follow(c.Arg(0), sessionFlags{outputFlags: outputFlags{json: c.JSON, quiet: true}, resumed: true}, nil)
}

// end closes the connection. What it was used for is done by then.
func (r *fleetRuns) end() { _ = r.Close() }

// openRunOnFleet connects for a command about the run of its argument.
func openRunOnFleet(c *ui.Call) (*fleetRuns, error) {
	if c.Arg(0) == "" {
		return nil, failure.Usagef("name the run")
	}
	home, err := project.HomeHere(c)
	if err != nil {
		return nil, err
	}
	return openFleet(c, home)
}

// fleetRuns are the runs of a Temporal namespace.
type fleetRuns struct {
	*fleet.Connection
	c    *ui.Call
	home string
}

func openFleet(c *ui.Call, home string) (*fleetRuns, error) {
	conn, err := fleet.Connect(c, nil)
	if err != nil {
		return nil, err
	}
	if err := attribute.Check(c.Context, conn.Client.OperatorService(), conn.Namespace); err != nil {
		return nil, errors.Join(failure.Infra(err), conn.Close())
	}
	return &fleetRuns{conn, c, home}, nil
}

// runOnFleet starts a run that workers execute, or attaches to the one with its id, and follows it.
func (f *runFlags) runOnFleet(c *ui.Call) error {
	if f.replay.what != "" || f.record != "" {
		return failure.Usagef("--replay and --record are for runs of this process; without --driver temporal, pexctl run --replay all --from RUN replays a run of workers that has ended")
	}
	if err := project.ApplyModelFlag(c); err != nil {
		return err
	}
	p, spec, err := project.CompileWith(c, project.DriverAnalyzers(project.TemporalDriver))
	if err != nil {
		return err
	}
	if err := project.CheckQuestion(c); err != nil {
		return err
	}
	home := project.HomeDir(c, spec)
	if err := project.CheckTrust(c, spec, home); err != nil {
		return err
	}
	in, err := f.input(c, p, nil)
	if err != nil {
		return err
	}
	if in.Origin, err = project.OriginOf(c, spec); err != nil {
		return err
	}
	homedir.Create(home)
	portable, err := bundle.PackRun(p, &in, home)
	if err != nil {
		return failure.Usagef("%w", err)
	}
	r, err := openFleet(c, home)
	if err != nil {
		return err
	}
	defer r.end()
	err = r.Driver.Start(c.Context, temporal.NewRun{Program: p, Portable: portable, Input: in, By: project.User(), Version: version.String(), Conversation: f.conversation})
	switch {
	case errors.Is(err, temporal.ErrExists) && f.runID != "":
		f.resumed = true
		if !f.quiet {
			fmt.Fprintf(c.Stderr, "Run %s exists: following it.\n", in.RunID)
		}
	case err != nil:
		return failure.Infra(err)
	}
	if f.detach {
		_, err := fmt.Fprintln(c.Stdout, in.RunID)
		return err
	}
	return r.follow(in.RunID, f.sessionFlags, func(res *engine.Result) []string {
		return nextSteps(c.Arg(0), project.HomeArgument(c, home), spec, p, res)
	})
}

// resume answers questions of a run, and follows it.
func (r *fleetRuns) resume(run string, answers []runs.Answer, f sessionFlags) error {
	if len(answers) > 0 {
		state, err := r.Driver.State(r.c.Context, r.c.Tenant, run)
		if err != nil {
			return r.fail(run, err)
		}
		answered, resolved, err := runs.Decisions(run, state.Questions, answers)
		if err != nil {
			return failure.Usagef("--answer %w", err)
		}
		if err := r.Driver.Decide(r.c.Context, r.c.Tenant, run, answered, resolved, project.User()); err != nil {
			return r.fail(run, err)
		}
	}
	return r.follow(run, f, nil)
}

// fail returns the failure of a request about a run.
func (r *fleetRuns) fail(run string, err error) error {
	if refused, ok := errors.AsType[*temporal.RefusedError](err); ok {
		return failure.Usagef("run %s: %w", run, refused)
	}
	if errors.Is(err, temporal.ErrNotFound) {
		return failure.NotFoundf("check the id, --tenant and TEMPORAL_NAMESPACE", "no run %s in namespace %s", run, r.Namespace)
	}
	return failure.Infra(err)
}

// follow shows a run until it has ended or waits, and stores it in the home once it has ended.
func (r *fleetRuns) follow(run string, f sessionFlags, hints func(*engine.Result) []string) error {
	c := r.c
	p, err := newProgress(c, f.outputFlags, f.resumed)
	if err != nil {
		return err
	}
	ctx, end := ui.OnSignal(c.Context, func() {
		p.note("Run " + run + " continues on the workers. Follow it: " + r.command(run))
	})
	defer end()
	w := &fleetWatch{fleetRuns: r, ctx: ctx, run: run, note: p.note, ended: make(chan struct{})}
	if !f.quiet {
		w.person = p.person
	}
	go w.await()
	res, err := w.watch(p.sinks, f.conversation)
	lost := p.close()
	switch {
	case ctx.Err() != nil:
		return ui.SignalError(ctx, nil)
	case err != nil:
		return err
	case lost != nil:
		return failure.Infra(lost)
	}
	if res.Status != stop.RunInterrupted {
		if err := r.adopt(w.lines); err != nil {
			fmt.Fprintln(c.Stderr, "pexctl: the run is not stored in this home:", err)
		}
	}
	err = printResult(c, res, "", f.outputFlags)
	if !f.quiet {
		printStored(c, r.home, res)
	}
	if !f.quiet || !f.json {
		for _, line := range resumeHint(c, r.home, res) {
			fmt.Fprintln(c.Stderr, line+" --driver temporal")
		}
	}
	if !f.quiet && !f.json && hints != nil {
		ui.PrintHints(c.Stderr, hints(res))
	}
	return err
}

// command returns the command that follows a run.
func (r *fleetRuns) command(run string) string {
	return project.Command(r.c, "resume", run) + " --driver temporal"
}

// adopt stores the journal of a run that has ended, so that the other commands can read it.
func (r *fleetRuns) adopt(lines []byte) error {
	c, err := journal.Decode(lines)
	if err != nil {
		return err
	}
	s, err := project.OpenHome(r.c, r.home)
	if err != nil {
		return err
	}
	return s.Adopt(c.Records)
}
