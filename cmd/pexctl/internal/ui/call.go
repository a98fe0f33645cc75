package ui

import (
	"context"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/dsl/pricing"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/internal/app/catalog"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/otel"
)

// Env is what main passes to every command: the streams of the process and the
// components that specs can name.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Catalog        *catalog.Catalog
	// Metrics returns the metrics of a process that serves them. The function receives the first
	// failure of an export.
	Metrics func(otel.Scrape, func(error)) *otel.Metrics
	Pause   func(context.Context) error // waits before --watch checks the files again; nil for a timer
}

// Action returns an action for a command. It calls do after handling --env-file,
// -o and --prices, and rejects more than most arguments if most is given.
func (e *Env) Action(do func(*Call) error, most ...int) cli.ActionFunc {
	return func(c *cli.Context) error {
		call := NewCall(e, c)
		if err := call.loadEnvFiles(); err != nil {
			return err
		}
		if err := call.readPrices(); err != nil {
			return err
		}
		if err := call.readFormat(); err != nil {
			return err
		}
		for _, n := range most {
			if err := call.AtMost(n); err != nil {
				return err
			}
		}
		stop, err := call.startTrace()
		if err != nil {
			return err
		}
		err = do(call)
		if e := stop(); e != nil && err == nil {
			err = failure.Infra(e)
		}
		return err
	}
}

// Call is one call of a command: its arguments, its flags, and its Env.
type Call struct {
	context.Context
	*Env
	Name    string   // of the command, as in "runs show"
	Args    []string // without flags
	Format  string   // of -o; "" if the command has no such flag
	JSON    bool     // Format is json
	Shared           // the flags that many commands have
	Command *cli.Command
	App     *cli.App          // the application of the command
	Fetched map[string]string // fetched files by URL
	Reads   func(...string)   // receives the files that the command reads, for --watch; nil if not needed
	Trace   *httpclient.Trace // of --verbose, --debug and --debug-file; nil if none

	flags  *cli.Context
	prices *pricing.Table // nil until requested
}

// Shared are the flags that many commands have. Flags that a command does not
// have are zero.
type Shared struct {
	Home, Root, Tenant     string
	Set, AllowPaths, Trust []string
	Quiet, Yes             bool
	Verbose, Debug         bool
	DebugFile              string
	Server                 string
}

func sharedOf(c *cli.Context) Shared {
	return Shared{
		Home: c.String("home"), Root: c.String("root"), Tenant: c.String("tenant"),
		Set: c.StringSlice("set"), AllowPaths: c.StringSlice("allow-path"), Trust: c.StringSlice("trust"),
		Verbose: c.Bool("verbose"), Debug: c.Bool("debug"), DebugFile: c.String("debug-file"),
		Quiet: c.Bool("quiet"), Yes: c.Bool("yes"), Server: c.String("server"),
	}
}

// NewCall returns the call for parsed arguments.
func NewCall(e *Env, c *cli.Context) *Call {
	call := &Call{Context: c.Context, Env: e, Command: c.Command, App: c.App, Args: c.Args().Slice(), Fetched: map[string]string{}, flags: c}
	call.Shared = sharedOf(c)
	if c.Command != nil {
		call.Name = c.Command.HelpName
	}
	return call
}

// RecordRead records files that the command depends on, or folders with everything
// in them.
func (c *Call) RecordRead(paths ...string) {
	if c.Reads != nil {
		c.Reads(paths...)
	}
}

// ReadTracked records a file of a spec and leaves reading it to the caller: it is
// the Read of dsl.Options.
func (c *Call) ReadTracked(path string) ([]byte, error) {
	c.RecordRead(path)
	return nil, specfs.ErrOnDisk
}

// Arg returns an argument, or "" if there are fewer.
func (c *Call) Arg(i int) string {
	if i >= len(c.Args) {
		return ""
	}
	return c.Args[i]
}

// The values of flags by name. Flags that a command does not have are zero.

// String returns the value of a flag.
func (c *Call) String(name string) string { return c.flags.String(name) }

// Bool returns the value of a flag.
func (c *Call) Bool(name string) bool { return c.flags.Bool(name) }

// Int returns the value of a flag.
func (c *Call) Int(name string) int { return c.flags.Int(name) }

// Int64 returns the value of a flag.
func (c *Call) Int64(name string) int64 { return c.flags.Int64(name) }

// Float64 returns the value of a flag.
func (c *Call) Float64(name string) float64 { return c.flags.Float64(name) }

// Duration returns the value of a flag.
func (c *Call) Duration(name string) time.Duration { return c.flags.Duration(name) }

// StringSlice returns the value of a flag.
func (c *Call) StringSlice(name string) []string { return c.flags.StringSlice(name) }

// Value returns the value of a flag.
func (c *Call) Value(name string) any { return c.flags.Value(name) }

// IsSet reports whether the caller set a flag.
func (c *Call) IsSet(name string) bool { return c.flags.IsSet(name) }

// SetFlag sets a flag as if the user had.
func (c *Call) SetFlag(name, value string) error {
	err := c.flags.Set(name, value)
	c.Shared = sharedOf(c.flags)
	return err
}
