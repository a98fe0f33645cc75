package ui

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/internal/app/failure"
)

// Adopt adds to commands and their subcommands what all have: a full name,
// --color and usage errors in the form of pexctl. A group of commands (`runs ls`,
// `runs show`) is a cli.Command with Subcommands and no Action; flags after
// arguments, help, completion and the reference need nothing else.
func Adopt(app *cli.App, above string, commands []*cli.Command) {
	for _, c := range commands {
		c.HelpName = strings.TrimSpace(above + " " + c.Name)
		c.HideHelpCommand = true
		c.OnUsageError = app.OnUsageError
		if IsGroup(c) {
			c.Action = missingSubcommand
		}
		c.Flags = append(c.Flags, colorFlag())
		Adopt(app, c.HelpName, c.Subcommands)
	}
}

// IsGroup reports whether a command has only subcommands. A command that also
// takes arguments (`eval SUITE`, `eval diff A B`) is not a group.
func IsGroup(c *cli.Command) bool { return len(c.Subcommands) > 0 && c.ArgsUsage == "" }

// missingSubcommand is the action of a group.
func missingSubcommand(c *cli.Context) error {
	return failure.Usagef("missing subcommand; use pexctl %s %s (see pexctl %[1]s --help)", c.Command.HelpName, strings.Join(Names(c.Command.Subcommands), "|"))
}

// ResolvedCommand is the command that the first words name, its path, and the
// remaining words.
type ResolvedCommand struct {
	*cli.Command
	Path, Rest []string
}

// Find returns the command that words name. An unknown name is an error.
func Find(app *cli.App, words []string) (ResolvedCommand, error) {
	f := ResolvedCommand{Rest: expandAlias(words)}
	commands := app.Commands
	for len(f.Rest) > 0 && len(commands) > 0 && !strings.HasPrefix(f.Rest[0], "-") {
		c := named(commands, f.Rest[0])
		if c == nil && f.Command != nil && !IsGroup(f.Command) {
			return f, nil // its argument
		}
		if c == nil {
			return f, unknownCommand(f.Path, f.Rest[0], commands)
		}
		f = ResolvedCommand{c, append(f.Path, c.Name), f.Rest[1:]}
		commands = c.Subcommands
	}
	return f, nil
}

func named(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

// Names returns the names of the visible commands.
func Names(commands []*cli.Command) []string {
	var out []string
	for _, c := range Visible(commands) {
		out = append(out, c.Name)
	}
	return out
}

// Visible returns the commands that help lists.
func Visible(commands []*cli.Command) []*cli.Command {
	var out []*cli.Command
	for _, c := range commands {
		if !c.Hidden {
			out = append(out, c)
		}
	}
	return out
}

// unknownCommand returns the error for a name that no command below path has.
func unknownCommand(path []string, name string, commands []*cli.Command) error {
	whole := strings.Join(append(path, name), " ")
	err := failure.Usagef("unknown command %q", whole)
	if instead := missingCommands[whole]; instead != "" {
		return failure.WithHintf(err, "%s", instead)
	}
	if near := Nearest(name, Names(commands)); near != "" {
		return failure.Usagef("%w; did you mean %q?", err, strings.Join(append(path, near), " "))
	}
	if len(path) > 0 {
		return failure.Usagef("%w; use %s", err, OneOf(Names(commands)))
	}
	return failure.WithHintf(err, "run pexctl --help for the list of commands")
}
