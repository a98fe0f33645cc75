package ui

import (
	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/internal/app/envfile"
	"github.com/pexctl/pex/internal/app/failure"
)

// EnvFileFlag is --env-file.
func EnvFileFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "env-file", Usage: "read environment variables from a dotenv `FILE`; repeatable, later files win; variables that are already set win over files"}
}

// loadEnvFiles reads the files of --env-file into the environment.
func (c *Call) loadEnvFiles() error {
	if err := envfile.Load(c.EnvFiles); err != nil {
		return failure.Usagef("--env-file: %w", err)
	}
	return nil
}
