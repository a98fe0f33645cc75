package runcmd

import (
	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
)

// RunsCommand returns "pexctl runs".
func RunsCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "runs", Usage: "List, inspect, message, compare, fork, export, cancel and delete runs",
		Description: ui.Help(project.RunNames,
			"pexctl runs ls # List the latest runs",
			"pexctl runs show last # Inspect the latest run",
			"pexctl runs show RUN --follow # Follow a run that another process executes",
			"pexctl runs diff RUN OTHER # Compare two runs",
		),
		Subcommands: []*cli.Command{
			runsLsCommand(env), runsShowCommand(env), runsMessageCommand(env), runsCancelCommand(env), runsForkCommand(env), runsDiffCommand(env),
			runsExportCommand(env), runsRmCommand(env),
		},
	}
}
