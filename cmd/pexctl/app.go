package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// newApp lists the commands.
func newApp(io streams) *cli.App {
	app := &cli.App{
		Name: "pexctl", Usage: "run plan-execute-reflect agents that live in git as YAML",
		HideVersion: true, HideHelpCommand: true,
		Reader: io.in, Writer: io.out, ErrWriter: io.err,
		DisableSliceFlagSeparator: true, // a value may hold commas
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              func(c *cli.Context, err error, _ bool) error { return wrongValue(c.Command, err) },
		CommandNotFound:           func(*cli.Context, string) {},
		Action:                    func(c *cli.Context) error { return cli.ShowAppHelp(c) },
		Commands: []*cli.Command{
			initCommand(), newCommand(), importCommand(), runCommand(), resumeCommand(), runsCommand(), vetCommand(), explainCommand(), fmtCommand(), diffCommand(), graphCommand(), renderCommand(), testCommand(), evalCommand(),
			memoryCommand(), storeCommand(), modelsCommand(), toolsCommand(), listCommand(), schemaCommand(), completionCommand(), versionCommand(), lspCommand(), docsCommand(), guardCommand(),
		},
	}
	app.CustomAppHelpTemplate = verbatim(appHelp(app))
	app.Setup() // before adopt: it would add to the names later
	adopt(app, "", app.Commands)
	return app
}

// oneSpec is the spec that a command was given.
func oneSpec(c *cli.Context) (string, error) {
	if c.Args().First() == "" {
		return "", noSpecGiven(c.Command.HelpName)
	}
	return c.Args().First(), nil
}

// atMost refuses arguments that would be ignored.
func atMost(c *cli.Context, n int) error {
	if c.NArg() <= n {
		return nil
	}
	return usage("%q is one argument too many (see pexctl %s --help)", c.Args().Get(n), c.Command.HelpName)
}

// asJSON says whether -o json was asked for.
func asJSON(c *cli.Context) (bool, error) {
	format, err := formatOf(c, "text", "json")
	return format == "json", err
}

// formatOf is the value of -o, the first of the formats by default.
func formatOf(c *cli.Context, formats ...string) (string, error) {
	format := c.String("output")
	if format == "" {
		return formats[0], nil
	}
	if !slices.Contains(formats, format) {
		more := ""
		if slices.ContainsFunc(c.Command.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), format) }) {
			more = fmt.Sprintf("; --%s FILE writes that format to a file", format)
		}
		return "", usage("-o %s: there are %s%s", format, listed(formats), more)
	}
	return format, nil
}

func outputFlag() cli.Flag { return outputFlagOf("text", "json") }

func outputFlagOf(formats ...string) cli.Flag {
	return &cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: fmt.Sprintf("output `FORMAT`: %s (default: %s)", strings.Join(formats, ", "), formats[0])}
}

// listed joins words: a, b and c.
func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
