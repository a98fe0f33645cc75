package runcmd

import (
	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
)

// RunsCommand has the commands that look at stored runs.
func RunsCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "runs", Usage: "list, look at, compare, cancel, fork, export and remove runs",
		Description: ui.Examples(
			"pexctl runs ls                      # the latest runs",
			"pexctl runs show RUN                # what one did",
			"pexctl runs show last               # what the latest did",
			"pexctl runs show RUN --follow       # watch one that another process runs",
			"pexctl runs diff RUN OTHER          # where two went apart",
		) + "\n\n" + project.RunNames,
		Subcommands: []*cli.Command{
			runsLsCommand(env), runsShowCommand(env), runsCancelCommand(env), runsForkCommand(env), runsDiffCommand(env),
			runsExportCommand(env), runsRmCommand(env),
		},
	}
}
