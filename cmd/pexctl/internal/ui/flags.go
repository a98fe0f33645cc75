package ui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/internal/app/failure"
)

// AtMost refuses arguments that would be ignored.
func (c *Call) AtMost(n int) error {
	if len(c.Args) <= n {
		return nil
	}
	return failure.Usagef("%q is one argument too many (see pexctl %s --help)", c.Arg(n), c.Name)
}

// outputFlag is -o with the formats that it accepts.
type outputFlag struct {
	*cli.StringFlag
	formats  []string
	standard string // the default; "" = the command decides
}

// OutputFlag is -o with these formats, or text and json. The first one is the
// default. Call.Format has the choice.
func OutputFlag(formats ...string) cli.Flag {
	if len(formats) == 0 {
		formats = []string{"text", "json"}
	}
	return newOutputFlag(formats[0], formats[0], formats)
}

// OutputFlagWith is OutputFlag of a command that chooses the format itself where
// -o is not given, as rule says; Format is "" then.
func OutputFlagWith(rule string, formats ...string) cli.Flag {
	return newOutputFlag(rule, "", formats)
}

func newOutputFlag(rule, standard string, formats []string) cli.Flag {
	usage := fmt.Sprintf("output `FORMAT`: %s (default: %s)", strings.Join(formats, ", "), rule)
	return outputFlag{&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: usage}, formats, standard}
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
		more = fmt.Sprintf("; --%s FILE writes that format to a file", c.Format)
	}
	return failure.Usagef("-o %s: there are %s%s", c.Format, List(formats), more)
}

// Logf tells something on stderr, unless -q asks for silence.
func Logf(c *Call, format string, args ...any) {
	if !c.Quiet {
		fmt.Fprintf(c.Stderr, format+"\n", args...)
	}
}

// ShowDiagnostics prints diagnostics: text on stderr, or with -o json an error list on stdout.
func ShowDiagnostics(c *Call, found diag.List) error {
	if c.Quiet && !found.Failed() {
		return nil
	}
	if c.String("output") == "json" && found.Failed() {
		if err := PrintJSON(c, found); err != nil {
			return err
		}
	}
	fmt.Fprint(c.Stderr, found.String())
	return Invalid(found)
}

// PrintJSON writes a value to stdout as indented JSON.
func PrintJSON(c *Call, v any) error {
	e := json.NewEncoder(ForPrograms(c.Stdout))
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
