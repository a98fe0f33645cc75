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
)

// Env is what main gives to every command: the streams of the process and the
// components that specs can name.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Catalog        *catalog.Catalog
	Pause          func(context.Context) error // waits until --watch looks at the files again; nil = a timer
}

// Action makes a function the action of a command. It is called once --env-file, -o
// and --prices are read and there are no more arguments than most, if that is given.
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

// Call is one call of a command: its arguments, its flags, and what main gave it.
type Call struct {
	context.Context
	*Env
	Name    string   // of the command, as in "runs show"
	Args    []string // without flags
	Format  string   // of -o; "" = the command has no such flag
	JSON    bool     // Format is json
	Shared           // the flags that many commands have
	Command *cli.Command
	App     *cli.App          // that it is a command of
	Fetched map[string]string // the files of addresses that were fetched
	Reads   func(...string)   // receives the files that the command reads, for --watch; nil = no one wants them
	Trace   *httpclient.Trace // of --verbose, --debug and --debug-file; nil = none

	flags  *cli.Context
	prices *pricing.Table // nil = none were asked for yet
}

// Shared are the flags that many commands have; one that a command does not have
// is its zero value.
type Shared struct {
	Home, Root, Tenant     string
	Set, AllowPaths, Trust []string
	Quiet, Yes             bool
	Verbose, Debug         bool
	DebugFile              string
}

func sharedOf(c *cli.Context) Shared {
	return Shared{
		Home: c.String("home"), Root: c.String("root"), Tenant: c.String("tenant"),
		Set: c.StringSlice("set"), AllowPaths: c.StringSlice("allow-path"), Trust: c.StringSlice("trust"),
		Verbose: c.Bool("verbose"), Debug: c.Bool("debug"), DebugFile: c.String("debug-file"),
		Quiet: c.Bool("quiet"), Yes: c.Bool("yes"),
	}
}

// NewCall returns the call that the flag parser made of the arguments.
func NewCall(e *Env, c *cli.Context) *Call {
	call := &Call{Context: c.Context, Env: e, Command: c.Command, App: c.App, Args: c.Args().Slice(), Fetched: map[string]string{}, flags: c}
	call.Shared = sharedOf(c)
	if c.Command != nil {
		call.Name = c.Command.HelpName
	}
	return call
}

// NoteRead notes files, or folders with all that is below them, that the command
// depends on.
func (c *Call) NoteRead(paths ...string) {
	if c.Reads != nil {
		c.Reads(paths...)
	}
}

// ReadTracked notes a file of a spec and leaves it to the caller to read it: it is the
// Read of dsl.Options.
func (c *Call) ReadTracked(path string) ([]byte, error) {
	c.NoteRead(path)
	return nil, specfs.ErrOnDisk
}

// Arg returns an argument; "" = there are not so many.
func (c *Call) Arg(i int) string {
	if i >= len(c.Args) {
		return ""
	}
	return c.Args[i]
}

// The values of flags by name, of those that a command does not have the zero
// value.

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

// SetFlag sets a flag, as if the caller had.
func (c *Call) SetFlag(name, value string) error {
	err := c.flags.Set(name, value)
	c.Shared = sharedOf(c.flags)
	return err
}
