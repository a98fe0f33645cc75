package ui

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/internal/app/failure"
)

// Arrange moves the flags of a command before its arguments, because the flag
// parser stops at the first argument: `run spec.yaml "question" -o json`.
// Arguments after "--" stay in place. It rejects unknown commands and flags with
// a suggestion.
func Arrange(app *cli.App, args []string) ([]string, error) {
	if len(args) == 0 {
		return forHelp(app, ResolvedCommand{}), nil
	}
	switch name := args[0]; {
	case name == "help":
		cmd, err := Find(app, args[1:])
		return forHelp(app, cmd), err
	case name == "--version" || name == "-v" || name == "-V":
		return []string{"version"}, nil
	case name == "--help" || name == "-h":
		return forHelp(app, ResolvedCommand{}), nil
	case strings.HasPrefix(name, "-"):
		return nil, failure.WithHintf(failure.Usagef("unknown flag %s", name), "flags go after the command: pexctl COMMAND %s", name)
	}
	cmd, err := Find(app, args)
	if err != nil {
		return nil, err
	}
	flags, rest, err := SortFlags(cmd.Command, cmd.Rest)
	if err != nil {
		return nil, err
	}
	if slices.Equal(flags, []string{"--help"}) {
		return forHelp(app, cmd), nil
	}
	out := append(cmd.Path, flags...)
	if len(rest) > 0 {
		out = append(append(out, "--"), rest...)
	}
	return out, nil
}

// forHelp returns the arguments that print the help of a command, and creates its
// text. Creating the texts of all commands at each start would take longer than
// most commands do.
func forHelp(app *cli.App, cmd ResolvedCommand) []string {
	if cmd.Command != nil {
		cmd.CustomHelpTemplate = EscapeTemplate(CommandHelp(cmd.Command, helpWidth(app.Writer)))
	} else {
		app.CustomAppHelpTemplate = EscapeTemplate(AppHelp(app, helpWidth(app.Writer)))
	}
	return append(cmd.Path, "--help")
}

// SortFlags separates the flags of a command, with their values, from its
// arguments.
func SortFlags(cmd *cli.Command, args []string) (flags, rest []string, err error) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return flags, append(rest, args[i+1:]...), nil
		}
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			rest = append(rest, arg)
			continue
		}
		flags = append(flags, arg)
		name, _, inline := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		f := FlagOf(cmd, name)
		switch {
		case name == "help" || name == "h":
			return []string{"--help"}, nil, nil // whatever else is given
		case f == nil:
			return nil, nil, UnknownFlag(cmd, name)
		case inline || !takesValue(f):
		case i+1 == len(args):
			return nil, nil, failure.Usagef("flag %s needs a value (see pexctl %s --help)", arg, cmd.HelpName)
		default:
			i++
			flags = append(flags, args[i])
		}
	}
	return flags, rest, nil
}

// FlagOf returns the flag with a name or alias, or nil.
func FlagOf(cmd *cli.Command, name string) cli.Flag {
	i := slices.IndexFunc(cmd.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
	if i < 0 {
		return nil
	}
	return cmd.Flags[i]
}

// takesValue reports whether a flag takes a value; f may be nil.
func takesValue(f cli.Flag) bool {
	_, isBool := f.(*cli.BoolFlag)
	return f != nil && !isBool
}

// UnknownFlag returns the error for a flag that a command does not have, with a
// suggestion.
func UnknownFlag(cmd *cli.Command, name string) error {
	dashes := "--"
	if len(name) == 1 {
		dashes = "-"
	}
	err := failure.Usagef("unknown flag %s%s for pexctl %s", dashes, name, cmd.HelpName)
	if IsGroup(cmd) {
		return failure.WithHintf(err, "flags go after the subcommand: pexctl %s %s", cmd.HelpName, strings.Join(Names(cmd.Subcommands), "|"))
	}
	var known []string
	for _, f := range cmd.Flags {
		known = append(known, f.Names()[0])
	}
	if hint := flagHint(cmd, name, known); hint != "" {
		return failure.WithHintf(err, "%s", hint)
	}
	return failure.WithHintf(err, "see pexctl %s --help", cmd.HelpName)
}

// rejectedValue matches the error of the flag parser for an invalid value.
var rejectedValue = text.Regexp(`^invalid (?:boolean )?value ("(?:[^"\\]|\\.)*") for (?:flag )?-([^:]+): `)

// InvalidValue returns the error for an invalid value of a flag, with the valid
// ones.
func InvalidValue(cmd *cli.Command, err error) error {
	match := rejectedValue().FindStringSubmatch(err.Error())
	if match == nil || cmd == nil {
		return failure.Usagef("%w", err)
	}
	value, name, takes := match[1], match[2], ""
	switch FlagOf(cmd, name).(type) {
	case *cli.IntFlag, *cli.Int64Flag:
		takes = "an integer"
	case *cli.Float64Flag:
		takes = "a number"
	case *cli.DurationFlag:
		takes = "a duration such as 90s or 2h"
	case *cli.BoolFlag:
		takes = "true, false or no value"
	default:
		return failure.Usagef("%w", err)
	}
	return failure.Usagef("invalid value %s for --%s; it takes %s (see pexctl %s --help)", value, name, takes, cmd.HelpName)
}
