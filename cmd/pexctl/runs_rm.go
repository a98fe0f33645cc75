package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/internal/app/failure"
)

func runsRmCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "rm", Usage: "remove runs for good", ArgsUsage: "RUN...",
		Description: ui.Examples(
			"pexctl runs rm RUN OTHER",
			"pexctl runs rm RUN --force       # also one that could still go on",
			"pexctl runs ls --status failed --limit 0 -o json | jq -r '.[].run_id' | xargs pexctl runs rm --yes",
		) + "\n\n" + runNames,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "force", Usage: "also runs that wait, can be resumed, or cannot be read"},
			ui.YesFlag(), ui.OutputFlag(), homeFlag(),
		},
		Action: env.Action(runsRm),
	}
}

func runsRm(c *ui.Call) error {
	wantJSON, err := ui.WantsJSON(c)
	if err != nil {
		return err
	}
	if !(len(c.Args) > 0) {
		return failure.Usagef("no run given: pexctl runs rm RUN... (pexctl runs ls lists them)")
	}
	dir, home, err := homeOfRuns(c, "")
	if err != nil {
		return err
	}
	runs, err := runsNamed(c, dir, home, c.Args)
	if err != nil {
		return err
	}
	if err := removable(&look{ctx: c.Context, dir: dir, home: home}, runs, c.Bool("force")); err != nil {
		return err
	}
	if err := ui.Confirm(c, fmt.Sprintf("remove %s for good", ui.List(runs))); err != nil {
		return err
	}
	removed := make([]string, 0, len(runs))
	for _, run := range runs {
		if err = home.Remove(run); err != nil {
			err = unread(home, dir, run, err)
			break
		}
		removed = append(removed, run)
	}
	if wantJSON {
		return errors.Join(err, ui.PrintJSON(c, struct {
			Removed []string `json:"removed"`
		}{removed}))
	}
	for _, run := range removed {
		fmt.Fprintln(c.Stdout, "removed", run)
	}
	return err
}

// removable refuses runs that somebody may still want; all of them or none.
func removable(l *look, runs []string, force bool) error {
	var refused []string
	for _, run := range runs {
		s := l.standing(run)
		l.verify(&s)
		if pid, held := l.home.Holder(run); held {
			return failure.Infra(fmt.Errorf("%w: pexctl runs cancel %s ends it", &journal.HeldError{Run: run, PID: pid}, run))
		}
		if why := wanted(s); why != "" && !force {
			refused = append(refused, "run "+run+" "+why)
		}
	}
	if len(refused) > 0 {
		return failure.Usagef("%s; --force removes them all the same", strings.Join(refused, "; "))
	}
	return nil
}

// wanted says why a run may still be wanted; "" = it has ended.
func wanted(s standing) string {
	switch {
	case s.Status == statusCorrupt:
		return "is damaged, and may be mended (pexctl store check says more)"
	case s.Problem != "":
		return "cannot be read here: " + s.Problem
	case s.Interrupts > 0:
		return "waits for a person"
	case s.Status == string(engine.Interrupted), s.StopReason.Code == engine.StopStoreFull:
		return "can be resumed"
	}
	return ""
}
