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

// AtMostArgs refuses arguments that would be ignored.
func AtMostArgs(c *Call, n int) error {
	if len(c.Args) <= n {
		return nil
	}
	return failure.Usagef("%q is one argument too many (see pexctl %s --help)", c.Arg(n), c.Name)
}

// WantsJSON says whether -o json was asked for.
func WantsJSON(c *Call) (bool, error) {
	format, err := Format(c, "text", "json")
	return format == "json", err
}

// Format is the value of -o, the first of the formats by default.
func Format(c *Call, formats ...string) (string, error) {
	format := c.String("output")
	if format == "" {
		return formats[0], nil
	}
	if !slices.Contains(formats, format) {
		more := ""
		if slices.ContainsFunc(c.Command.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), format) }) {
			more = fmt.Sprintf("; --%s FILE writes that format to a file", format)
		}
		return "", failure.Usagef("-o %s: there are %s%s", format, List(formats), more)
	}
	return format, nil
}

// OutputFlag is -o with text and json.
func OutputFlag() cli.Flag { return OutputFlagOf("text", "json") }

// OutputFlagOf is -o with these formats; the first is the default.
func OutputFlagOf(formats ...string) cli.Flag {
	return &cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: fmt.Sprintf("output `FORMAT`: %s (default: %s)", strings.Join(formats, ", "), formats[0])}
}

// Logf tells something on stderr, unless -q asks for silence.
func Logf(c *Call, format string, args ...any) {
	if !c.Bool("quiet") {
		fmt.Fprintf(c.Stderr, format+"\n", args...)
	}
}

// ShowDiagnostics prints diagnostics: text on stderr, or with -o json an error list on stdout.
func ShowDiagnostics(c *Call, found diag.List) error {
	if c.Bool("quiet") && !found.Failed() {
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
