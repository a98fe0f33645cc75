package runcmd

import (
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/serverclient"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/app/failure"
)

func runsRmCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "rm", Aliases: []string{"remove", "delete"}, Usage: "Delete runs permanently", ArgsUsage: "RUN...",
		Description: ui.Help(project.RunNames,
			"pexctl runs rm RUN OTHER",
			"pexctl runs rm RUN --force # Even if it could be resumed",
			"pexctl runs ls --status failed --limit 0 -o json | jq -r '.[].run_id' | xargs pexctl runs rm --yes # All failed runs",
		),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "force", Usage: "Also delete runs that are waiting, can be resumed, or cannot be read"},
			ui.YesFlag(), ui.OutputFlag(), project.HomeFlag(), serverclient.Flag(),
		},
		Action: env.Action(runsRm),
	}
}

func runsRm(c *ui.Call) error {
	if len(c.Args) == 0 {
		return failure.WithHintf(failure.Usagef("no run given"), "use pexctl runs rm RUN...; pexctl runs ls lists runs")
	}
	server, err := openServer(c, "force")
	if err != nil {
		return err
	}
	if server != nil {
		return server.remove(c.Bool("force"))
	}
	s, err := project.OpenRuns(c, "")
	if err != nil {
		return err
	}
	var ids []string
	for _, word := range c.Args {
		run, err := s.Find(word)
		if err != nil {
			return project.RunError(c, s, err)
		}
		ids = append(ids, run)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if err := s.CheckRemovable(c.Context, ids, c.Bool("force")); err != nil {
		return notRemovable(c, s, err)
	}
	if err := ui.Confirm(c, fmt.Sprintf("Permanently delete %s", ui.List(ids))); err != nil {
		return err
	}
	removed := make([]string, 0, len(ids))
	for _, run := range ids {
		if err = project.RunError(c, s, s.Remove(run)); err != nil {
			break
		}
		removed = append(removed, run)
	}
	return errors.Join(err, printRemoved(c, removed))
}

func printRemoved(c *ui.Call, removed []string) error {
	if c.JSON {
		return ui.PrintJSON(c, struct {
			Removed []string `json:"removed"`
		}{removed})
	}
	for _, run := range removed {
		fmt.Fprintln(c.Stdout, "deleted", run)
	}
	return nil
}

// notRemovable adds a hint to the error for runs that may still be needed.
func notRemovable(c *ui.Call, s *runs.Service, err error) error {
	if held, ok := errors.AsType[*journal.InUseError](err); ok {
		return failure.Infra(fmt.Errorf("%w; to cancel it: pexctl runs cancel %s", held, held.Run))
	}
	if _, ok := errors.AsType[*runs.StillNeededError](err); ok {
		return failure.Usagef("%w; add --force to delete anyway", err)
	}
	return project.RunError(c, s, err)
}
