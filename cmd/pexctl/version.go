package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
)

// buildVersion is the stamped version, else what Go knows of the build.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

func versionCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version",
		Description: ui.Examples("pexctl version", "pexctl version -o json"),
		Flags:       []cli.Flag{ui.OutputFlag()},
		Action: env.Action(func(c *ui.Call) error {
			wantJSON, err := ui.WantsJSON(c)
			if err != nil {
				return err
			}
			if err := ui.AtMostArgs(c, 0); err != nil {
				return err
			}
			if wantJSON {
				return ui.PrintJSON(c, map[string]string{
					"version": buildVersion(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
				})
			}
			fmt.Fprintln(c.Stdout, "pexctl", buildVersion())
			return nil
		}),
	}
}
