package ui

import (
	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/internal/app/envfile"
	"github.com/pexctl/pex/internal/app/failure"
)

// EnvFileFlag returns --env-file.
func EnvFileFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "env-file", Category: GroupInput, Usage: "Read environment variables from the dotenv `FILE`; variables of the environment take precedence; if two files set the same variable, the later file wins"}
}

// loadEnvFiles reads the files of --env-file into the environment.
func (c *Call) loadEnvFiles() error {
	if err := envfile.Load(c.StringSlice("env-file")); err != nil {
		return failure.Usagef("--env-file: %w", err)
	}
	return nil
}
