package runcmd

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/serverclient"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/internal/app/failure"
)

func runsCancelCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "cancel", Usage: "Cancel a running or waiting run permanently", ArgsUsage: "RUN",
		Description: ui.Help(project.RunNames,
			`pexctl runs cancel r-20260102-150405-1a2b3c4d`,
			`pexctl runs fork RUN # Continue a cancelled run as a new one`,
		),
		Flags:  append(fleetFlags(), ui.OutputFlag(), project.HomeFlag(), project.TenantFlag(), serverclient.Flag()),
		Action: env.Action(cancelRun),
	}
}

func cancelRun(c *ui.Call) error {
	if remote, err := onFleet(c); err != nil {
		return err
	} else if remote {
		return cancelOnFleet(c)
	}
	server, err := openServer(c)
	if err != nil {
		return err
	}
	if server != nil {
		return server.cancelRun()
	}
	s, run, err := project.RunArg(c)
	if err != nil {
		return err
	}
	res, err := s.Cancel(c.Context, run)
	switch _, still := errors.AsType[*runs.NotCancelledError](err); {
	case still:
		return failure.Infra(err)
	case res == nil:
		return project.RunError(c, s, err)
	case err != nil:
		fmt.Fprintln(c.Stderr, "pexctl:", err)
	}
	if c.JSON {
		err = ui.PrintJSON(c, res)
	} else {
		_, err = fmt.Fprintf(c.Stdout, "run %s: %s\n", run, res.Status)
	}
	if err == nil && res.Status != stop.RunCancelled {
		return ui.Exit(ui.ExitNegative, fmt.Errorf("run %s ended before it could be cancelled (%s)", run, res.StopReason.Code))
	}
	return err
}
