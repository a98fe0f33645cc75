package main

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// adopt gives commands, and those below them, what all have: a full name, and
// errors that are told as ours. A group of commands (`runs ls`,
// `runs show`) is a cli.Command with Subcommands and no Action; nothing else is
// needed for flags after arguments, help, completion and the reference.
func adopt(app *cli.App, above string, commands []*cli.Command) {
	for _, c := range commands {
		c.HelpName = strings.TrimSpace(above + " " + c.Name)
		c.HideHelpCommand = true
		c.OnUsageError = app.OnUsageError
		if isGroup(c) {
			c.Action = whichCommand
		}
		adopt(app, c.HelpName, c.Subcommands)
	}
}

// isGroup says that a command is only the commands below it. One that takes
// arguments of its own besides (`eval SUITE`, `eval diff A B`) is no group.
func isGroup(c *cli.Command) bool { return len(c.Subcommands) > 0 && c.ArgsUsage == "" }

// whichCommand is the action of a group, which has none.
func whichCommand(c *cli.Context) error {
	return usage("which command? pexctl %s %s (see pexctl %[1]s --help)", c.Command.HelpName, strings.Join(names(c.Command.Subcommands), "|"))
}

// found is the command that words lead to: its name in words, and what follows.
type found struct {
	*cli.Command
	path, rest []string
}

// find follows words down to a command that is no group, or to the last one
// that there is. A word that should be a command and is none is an error.
func find(app *cli.App, words []string) (found, error) {
	f := found{rest: words}
	commands := app.Commands
	for len(f.rest) > 0 && len(commands) > 0 && !strings.HasPrefix(f.rest[0], "-") {
		c := named(commands, f.rest[0])
		if c == nil && f.Command != nil && !isGroup(f.Command) {
			return f, nil // its argument
		}
		if c == nil {
			return f, unknownCommand(f.path, f.rest[0], commands)
		}
		f = found{c, append(f.path, c.Name), f.rest[1:]}
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

// names are those of the commands that people are shown.
func names(commands []*cli.Command) []string {
	var out []string
	for _, c := range visible(commands) {
		out = append(out, c.Name)
	}
	return out
}

func visible(commands []*cli.Command) []*cli.Command {
	var out []*cli.Command
	for _, c := range commands {
		if !c.Hidden {
			out = append(out, c)
		}
	}
	return out
}

// unknownCommand refuses a name that is none of the commands below path.
func unknownCommand(path []string, name string, commands []*cli.Command) error {
	known, whole := names(commands), strings.Join(append(path, name), " ")
	if here := commandSynonyms[whole]; here != "" {
		return usage("unknown command %q; did you mean %s?", whole, here)
	}
	if near := nearest(name, known); near != "" {
		return usage("unknown command %q; did you mean %s?", whole, strings.Join(append(path, near), " "))
	}
	return usage("unknown command %q; there are %s", whole, listed(known))
}
