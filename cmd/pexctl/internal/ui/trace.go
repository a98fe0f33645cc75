package ui

import (
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/engine/secret"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/httpclient"
)

// LiveFlags returns the flags of commands that call models or tools.
func LiveFlags() []cli.Flag {
	return []cli.Flag{
		EnvFileFlag(),
		&cli.BoolFlag{Name: "verbose", Category: GroupOutput, Usage: "Print decisions, retries and timings on stderr"},
		&cli.BoolFlag{Name: "debug", Category: GroupOutput, Usage: "Like --verbose, and print every HTTP request and response, with secrets redacted"},
		&cli.StringFlag{Name: "debug-file", Category: GroupOutput, Usage: "Write every HTTP request and response to `FILE`, with secrets redacted"},
	}
}

// Tracing reports whether a trace goes to stderr, so that nothing can be redrawn
// in place there.
func (c *Call) Tracing() bool { return c.Verbose || c.Debug }

// startTrace starts the trace of --verbose, --debug and --debug-file. stop ends
// it.
func (c *Call) startTrace() (stop func() error, err error) {
	if c.Quiet && c.Verbose {
		return nil, failure.Usagef("--quiet and --verbose cannot be combined")
	}
	to := c.Stderr
	var file *os.File
	switch {
	case c.DebugFile != "":
		if file, err = os.OpenFile(c.DebugFile, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600); err != nil {
			return nil, failure.Usagef("--debug-file: %w", err)
		}
		to = tty.NewWriter(file, false)
	case !c.Tracing():
		return func() error { return nil }, nil
	}
	c.Trace = httpclient.NewTrace(to, c.Debug || file != nil, environmentSecrets(), time.Now)
	end := c.Trace.Start()
	return func() error {
		end()
		if file == nil {
			return nil
		}
		return file.Close()
	}, nil
}

// environmentSecrets returns the values of the environment that may be secrets,
// whether or not a spec names them.
func environmentSecrets() *secret.Values {
	values := map[string]string{}
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); !secret.Plain(name, value) {
			values[name] = value
		}
	}
	return secret.New(values)
}
