package ui

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/internal/app/failure"
)

// Adopt gives commands, and those below them, what all have: a full name, and
// errors that are told as ours. A group of commands (`runs ls`,
// `runs show`) is a cli.Command with Subcommands and no Action; nothing else is
// needed for flags after arguments, help, completion and the reference.
func Adopt(app *cli.App, above string, commands []*cli.Command) {
	for _, c := range commands {
		c.HelpName = strings.TrimSpace(above + " " + c.Name)
		c.HideHelpCommand = true
		c.OnUsageError = app.OnUsageError
		if IsGroup(c) {
			c.Action = whichCommand
		}
		Adopt(app, c.HelpName, c.Subcommands)
	}
}

// IsGroup says that a command is only the commands below it. One that takes
// arguments of its own besides (`eval SUITE`, `eval diff A B`) is no group.
func IsGroup(c *cli.Command) bool { return len(c.Subcommands) > 0 && c.ArgsUsage == "" }

// whichCommand is the action of a group, which has none.
func whichCommand(c *cli.Context) error {
	return failure.Usagef("which command? pexctl %s %s (see pexctl %[1]s --help)", c.Command.HelpName, strings.Join(Names(c.Command.Subcommands), "|"))
}

// Found is the command that words lead to: its name in words, and what follows.
type Found struct {
	*cli.Command
	Path, Rest []string
}

// Find follows words down to a command that is no group, or to the last one
// that there is. A word that should be a command and is none is an error.
func Find(app *cli.App, words []string) (Found, error) {
	f := Found{Rest: words}
	commands := app.Commands
	for len(f.Rest) > 0 && len(commands) > 0 && !strings.HasPrefix(f.Rest[0], "-") {
		c := named(commands, f.Rest[0])
		if c == nil && f.Command != nil && !IsGroup(f.Command) {
			return f, nil // its argument
		}
		if c == nil {
			return f, unknownCommand(f.Path, f.Rest[0], commands)
		}
		f = Found{c, append(f.Path, c.Name), f.Rest[1:]}
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

// Names are those of the commands that people are shown.
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

// unknownCommand refuses a name that is none of the commands below path.
func unknownCommand(path []string, name string, commands []*cli.Command) error {
	known, whole := Names(commands), strings.Join(append(path, name), " ")
	if here := commandSynonyms[whole]; here != "" {
		return failure.Usagef("unknown command %q; did you mean %s?", whole, here)
	}
	if near := Nearest(name, known); near != "" {
		return failure.Usagef("unknown command %q; did you mean %s?", whole, strings.Join(append(path, near), " "))
	}
	return failure.Usagef("unknown command %q; there are %s", whole, List(known))
}
