package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/internal/app/failure"
)

func runsCancelCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "cancel", Usage: "end a run for good, wherever it runs or waits", ArgsUsage: "RUN",
		Description: ui.Examples(
			`pexctl runs cancel r-20260102-150405-1a2b3c4d`,
			`pexctl runs fork RUN   # goes on from a run that was cancelled`,
		) + "\n\n" + runNames,
		Flags:  []cli.Flag{ui.OutputFlag(), homeFlag()},
		Action: env.Action(cancelRun),
	}
}

// cancelWait is how long a process that runs the run may take to see the
// decision and to let what is under way end: a write is waited for.
const cancelWait = 60 * time.Second

func cancelRun(c *ui.Call) error {
	wantJSON, err := ui.WantsJSON(c)
	if err != nil {
		return err
	}
	t, err := oneTarget(c)
	if err != nil {
		return err
	}
	p, err := t.past(c)
	if err != nil {
		return err
	}
	home, run := t.home, t.run
	if ended(p.records) {
		return failure.Usagef("run %s has ended before: %s", run, p.look(c.Context, &engine.Follow{}).StopReason.Code)
	}
	who, err := json.Marshal(thisUser())
	if err == nil {
		err = home.RequestCancel(run, who)
	}
	if err != nil {
		return failure.Infra(fmt.Errorf("cancel run %s: %w", run, err))
	}
	if err := awaitHolder(c, home, run); err != nil {
		return err
	}
	res, err := carryOut(c, t)
	if err != nil {
		return err
	}
	if err := home.CancelDone(run); err != nil {
		fmt.Fprintln(c.Stderr, "pexctl:", err)
	}
	if wantJSON {
		err = ui.PrintJSON(c, res)
	} else {
		_, err = fmt.Fprintf(c.Stdout, "run %s: %s\n", run, res.Status)
	}
	if err == nil && res.Status != engine.Cancelled {
		return ui.Exit(ui.ExitNegative, fmt.Errorf("run %s ended before it could be cancelled: %s", run, res.StopReason.Code))
	}
	return err
}

// awaitHolder waits until nobody has the run open.
func awaitHolder(c *ui.Call, home *journal.Home, run string) error {
	tick := time.NewTicker(cancelTick)
	defer tick.Stop()
	for until := time.Now().Add(cancelWait); ; {
		pid, held := home.Holder(run)
		if !held {
			return nil
		}
		if time.Now().After(until) {
			return failure.Infra(fmt.Errorf("run %s: pid %d was told to cancel it %s ago and has not ended; the decision stands", run, pid, cancelWait))
		}
		select {
		case <-tick.C:
		case <-c.Context.Done():
			return c.Context.Err()
		}
	}
}

// carryOut ends a run that nobody runs by the decision that was left for it.
// A run that its process ended meanwhile is only looked at.
func carryOut(c *ui.Call, t target) (*engine.Result, error) {
	s := &session{c: c}
	p, err := s.reopen(t)
	if err != nil {
		return nil, err
	}
	if ended(p.records) {
		return p.look(c.Context, &engine.Follow{}), s.close()
	}
	asked := make(chan struct{})
	close(asked)
	res := engine.Run(c.Context, s.program, s.input, s.host, engine.Options{
		Journal: s.file, By: thisUser(), Cancel: asked, Version: buildVersion(),
	})
	s.file.SetHead(headOf(s.input, res))
	return res, s.close()
}
