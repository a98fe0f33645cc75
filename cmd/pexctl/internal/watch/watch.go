package watch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

// interval is the time between two checks of the files.
const interval = 250 * time.Millisecond

// Flag returns --watch.
func Flag() cli.Flag {
	return &cli.BoolFlag{Name: "watch", Usage: "Run again after every change to a file that the command reads; stop with Ctrl-C"}
}

// EndError is an error of a command that ends the loop.
type EndError struct{ Err error }

// Error implements error.
func (e *EndError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *EndError) Unwrap() error { return e.Err }

// Run repeats do until Ctrl-C, which is its normal end, or an EndError. It
// watches the files that do records with ui.Call.RecordRead, and prints other
// errors of do.
func Run(c *ui.Call, do func(changed []string) error) error {
	if c.JSON {
		return failure.Usagef("--watch cannot be combined with -o json: there would be more than one result")
	}
	ctx, stop := ui.OnSignal(c.Context, func() {})
	defer stop()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	c.Context = ctx
	loop{pause: pauseOf(c)}.run(ctx, func(changed []string, files *Files) {
		c.Reads = files.Add
		announce(c, changed)
		err := do(changed)
		if last, ok := errors.AsType[*EndError](err); ok {
			end(last)
		}
		if ctx.Err() != nil {
			return
		}
		ui.PrintError(err, c.Stderr)
		fmt.Fprintf(c.Stderr, "watching %s for changes; stop with Ctrl-C\n", ui.Count(len(files.stamps()), "file"))
	})
	if last, ok := errors.AsType[*EndError](context.Cause(ctx)); ok {
		return last.Err
	}
	fmt.Fprintln(c.Stderr)
	return nil
}

// pauseOf returns the function that waits between two checks.
func pauseOf(c *ui.Call) func(context.Context) error {
	if c.Pause != nil {
		return c.Pause
	}
	return tick
}

// tick waits for the next check.
func tick(ctx context.Context) error {
	t := time.NewTimer(interval)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// announce prints what changed, after clearing a terminal.
func announce(c *ui.Call, changed []string) {
	if len(changed) == 0 {
		return
	}
	if f, ok := ui.Terminal(c.Stdout); ok {
		_, _ = f.WriteString("\x1b[H\x1b[2J")
	}
	const most = 3
	names := make([]string, 0, most)
	for _, path := range changed[:min(len(changed), most)] {
		names = append(names, fspath.Relative(path))
	}
	more := ""
	if n := len(changed) - most; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	fmt.Fprintf(c.Stderr, "changed: %s%s\n", strings.Join(names, ", "), more)
}
