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
		Name:  "pexctl",
		Usage: "run plan-execute-reflect agents that live in git as YAML",
		Description: "pexctl run specs/hello            run a spec\n" +
			"pexctl vet spec.yaml              find what is wrong with one\n" +
			"pexctl render spec.yaml --node planner   see a prompt, call nobody\n" +
			"pexctl graph spec.yaml            draw what it compiles to",
		Version: buildVersion(), HideVersion: true, HideHelpCommand: true,
		Reader: io.in, Writer: io.out, ErrWriter: io.err,
		DisableSliceFlagSeparator: true,
		EnableBashCompletion:      true,
		ExitErrHandler:            func(*cli.Context, error) {}, // main maps errors, after everything is closed
		OnUsageError:              usageError,
		CommandNotFound:           func(*cli.Context, string) {},
		Action: func(c *cli.Context) error {
			if name := c.Args().First(); name != "" {
				return unknownCommand(c.App, name)
			}
			return cli.ShowAppHelp(c)
		},
		Commands: []*cli.Command{
			runCommand(), vetCommand(), explainCommand(), fmtCommand(), graphCommand(), renderCommand(),
			listCommand(), schemaCommand(), completionCommand(), versionCommand(),
		},
	}
	for _, c := range app.Commands {
		c.OnUsageError = usageError
	}
	return app
}

// usageError keeps the help off stdout: a wrong flag is a line on stderr.
func usageError(c *cli.Context, err error, _ bool) error {
	name := "pexctl"
	if c.Command != nil && c.Command.Name != "" && c.Command.Name != name {
		name += " " + c.Command.Name
	}
	return usage("%w (see %s --help)", err, name)
}

func unknownCommand(app *cli.App, name string) error {
	var names []string
	for _, c := range app.Commands {
		names = append(names, c.Name)
		if strings.HasPrefix(c.Name, name) || strings.HasPrefix(name, c.Name) {
			return usage("unknown command %q; did you mean %s?", name, c.Name)
		}
	}
	return usage("unknown command %q; there are %s", name, strings.Join(names, ", "))
}

// permute moves a command's flags before its arguments, because the flag
// parser stops at the first argument: `run spec.yaml "question" -o json`.
// What follows "--" stays as it is.
func permute(app *cli.App, args []string) []string {
	if len(args) == 0 || app.Command(args[0]) == nil {
		return args
	}
	cmd := app.Command(args[0])
	var flags, rest []string
	for i := 1; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			rest = append(rest, args[i+1:]...)
			break
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			rest = append(rest, arg)
			continue
		}
		flags = append(flags, arg)
		name, _, inline := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !inline && takesValue(cmd, name) && i+1 < len(args) {
			i++
			flags = append(flags, args[i])
		}
	}
	out := append([]string{args[0]}, flags...)
	if len(rest) > 0 {
		out = append(append(out, "--"), rest...)
	}
	return out
}

func takesValue(cmd *cli.Command, name string) bool {
	for _, f := range cmd.Flags {
		if slices.Contains(f.Names(), name) {
			_, isBool := f.(*cli.BoolFlag)
			return !isBool
		}
	}
	return false
}

// oneSpec is the spec that a command was given.
func oneSpec(c *cli.Context) (string, error) {
	if c.NArg() == 0 {
		return "", usage("no spec given: pexctl %s spec.yaml (a folder means its spec.yaml)", c.Command.Name)
	}
	return c.Args().First(), nil
}

// asJSON says whether -o json was asked for.
func asJSON(c *cli.Context) (bool, error) {
	switch format := c.String("output"); format {
	case "", "text":
		return false, nil
	case "json":
		return true, nil
	default:
		return false, usage("-o %s: there are text and json", format)
	}
}

func outputFlag() cli.Flag {
	return &cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "output `FORMAT`: text or json"}
}

func examples(lines ...string) string {
	return fmt.Sprintf("Examples:\n  %s", strings.Join(lines, "\n  "))
}
