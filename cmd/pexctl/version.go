package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"
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

func versionCommand() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version",
		Description: examples("pexctl version", "pexctl version -o json"),
		Flags:       []cli.Flag{outputFlag()},
		Action: func(c *cli.Context) error {
			wantJSON, err := asJSON(c)
			if err != nil {
				return err
			}
			if err := atMost(c, 0); err != nil {
				return err
			}
			if wantJSON {
				return printJSON(c, map[string]string{
					"version": buildVersion(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
				})
			}
			fmt.Fprintln(c.App.Writer, "pexctl", buildVersion())
			return nil
		},
	}
}
