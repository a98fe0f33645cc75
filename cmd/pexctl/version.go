package main

import (
	"fmt"
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/internal/app/version"
)

func versionCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "Print the version",
		Description: ui.Help("", "pexctl version", "pexctl version -o json"),
		Flags:       []cli.Flag{ui.OutputFlag()},
		Action: env.Action(func(c *ui.Call) error {
			if c.JSON {
				return ui.PrintJSON(c, map[string]string{
					"version": version.String(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
				})
			}
			fmt.Fprintln(c.Stdout, "pexctl", version.String())
			return nil
		}, 0),
	}
}
