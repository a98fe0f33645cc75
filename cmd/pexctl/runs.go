package main

import (
	"github.com/urfave/cli/v2"
)

func runsCommand() *cli.Command {
	return &cli.Command{
		Name: "runs", Usage: "list, look at, compare, cancel, fork, export and remove runs",
		Description: examples(
			"pexctl runs ls                      # the latest runs",
			"pexctl runs show RUN                # what one did",
			"pexctl runs show last               # what the latest did",
			"pexctl runs show RUN --follow       # watch one that another process runs",
			"pexctl runs diff RUN OTHER          # where two went apart",
		) + "\n\n" + runNames,
		Subcommands: []*cli.Command{
			runsLsCommand(), runsShowCommand(), runsCancelCommand(), runsForkCommand(), runsDiffCommand(),
			runsExportCommand(), runsRmCommand(),
		},
	}
}
