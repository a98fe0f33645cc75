package main

import (
	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/internal/app/procguard"
)

func guardCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: procguard.CommandName, Usage: "End process groups when the parent process is gone", Hidden: true,
		Action: func(*cli.Context) error {
			procguard.Serve(env.Stdin)
			return nil
		},
	}
}
