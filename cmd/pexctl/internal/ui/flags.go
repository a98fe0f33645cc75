package ui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/internal/app/failure"
)

// AtMost rejects more than n arguments.
func (c *Call) AtMost(n int) error {
	if len(c.Args) <= n {
		return nil
	}
	return failure.WithHintf(failure.Usagef("unexpected argument %q", c.Arg(n)), "usage: pexctl %s %s", c.Name, c.Command.ArgsUsage)
}

// outputFlag is -o with the formats that it accepts.
type outputFlag struct {
	*cli.StringFlag
	formats  []string
	standard string // the default; "" if the command decides
}

// OutputFlag returns -o with these formats, or with text and json. The first one
// is the default. Call.Format has the value.
func OutputFlag(formats ...string) cli.Flag {
	if len(formats) == 0 {
		formats = []string{"text", "json"}
	}
	return newOutputFlag(formats[0], formats[0], formats)
}

// OutputFlagWith is like OutputFlag, for a command that chooses the format itself
// without -o, as rule describes; Format is then "".
func OutputFlagWith(rule string, formats ...string) cli.Flag {
	return newOutputFlag(rule, "", formats)
}

func newOutputFlag(rule, standard string, formats []string) cli.Flag {
	usage := fmt.Sprintf("`FORMAT`: Output format: %s (default: %s)", strings.Join(formats, ", "), rule)
	return outputFlag{&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Category: GroupOutput, Usage: usage}, formats, standard}
}

// readFormat reads -o.
func (c *Call) readFormat() error {
	i := slices.IndexFunc(c.Command.Flags, func(f cli.Flag) bool { _, ok := f.(outputFlag); return ok })
	if i < 0 {
		return nil
	}
	formats := c.Command.Flags[i].(outputFlag).formats
	if c.Format = c.String("output"); c.Format == "" {
		c.Format = c.Command.Flags[i].(outputFlag).standard
	}
	c.JSON = c.Format == "json"
	if c.Format == "" || slices.Contains(formats, c.Format) {
		return nil
	}
	more := ""
	if slices.ContainsFunc(c.Command.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), c.Format) }) {
		more = fmt.Sprintf("; to write it to a file, use --%s FILE", c.Format)
	}
	return failure.Usagef("invalid value %q for -o; use %s%s", c.Format, OneOf(formats), more)
}

// Logf prints a line on stderr, unless -q is given.
func Logf(c *Call, format string, args ...any) {
	if !c.Quiet {
		fmt.Fprintf(c.Stderr, format+"\n", args...)
	}
}

// PrintJSON writes a value to stdout as indented JSON.
func PrintJSON(c *Call, v any) error {
	e := json.NewEncoder(ForPrograms(c.Stdout))
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
