package ui

import (
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/internal/app/failure"
)

// Arrange makes arguments into what the flag parser takes, which stops at the
// first argument: a command's flags are moved before its arguments, as in
// `run spec.yaml "question" -o json`. What follows "--" stays as it is. What
// the parser would not know is refused here, with what was probably meant.
func Arrange(app *cli.App, args []string) ([]string, error) {
	if len(args) == 0 {
		return nil, nil
	}
	switch name := args[0]; {
	case name == "help":
		cmd, err := Find(app, args[1:])
		return forHelp(cmd), err
	case name == "--version" || name == "-v":
		return []string{"version"}, nil
	case name == "--help" || name == "-h":
		return []string{"--help"}, nil
	case strings.HasPrefix(name, "-"):
		return nil, failure.Usagef("unknown flag %s; a command comes first: pexctl run spec.yaml", name)
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
		return forHelp(cmd), nil
	}
	out := append(cmd.Path, flags...)
	if len(rest) > 0 {
		out = append(append(out, "--"), rest...)
	}
	return out, nil
}

// forHelp asks for the help of a command, and writes it. The help of all commands,
// written at each start, took longer than most commands do.
func forHelp(cmd Found) []string {
	if cmd.Command != nil {
		cmd.CustomHelpTemplate = EscapeTemplate(CommandHelp(cmd.Command))
	}
	return append(cmd.Path, "--help")
}

// SortFlags tells a command's flags, with their values, from its arguments.
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
			return []string{"--help"}, nil, nil // whatever else is asked for
		case f == nil:
			return nil, nil, UnknownFlag(cmd, name)
		case inline || !takesValue(f):
		case i+1 == len(args):
			return nil, nil, failure.Usagef("%s needs a value (see pexctl %s --help)", arg, cmd.HelpName)
		default:
			i++
			flags = append(flags, args[i])
		}
	}
	return flags, rest, nil
}

// FlagOf returns the flag of a name or alias, or nil.
func FlagOf(cmd *cli.Command, name string) cli.Flag {
	i := slices.IndexFunc(cmd.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
	if i < 0 {
		return nil
	}
	return cmd.Flags[i]
}

// takesValue says whether a flag has a value; no flag has none.
func takesValue(f cli.Flag) bool {
	_, isBool := f.(*cli.BoolFlag)
	return f != nil && !isBool
}

// UnknownFlag is the error for a flag that a command does not have, with a suggestion.
func UnknownFlag(cmd *cli.Command, name string) error {
	var known []string
	for _, f := range cmd.Flags {
		known = append(known, f.Names()[0])
	}
	if IsGroup(cmd) {
		return failure.Usagef("unknown flag --%s; the command comes first: pexctl %s %s", name, cmd.HelpName, strings.Join(Names(cmd.Subcommands), "|"))
	}
	meant := ""
	if s := flagMeant(cmd, name, known); s != "" {
		meant = "; did you mean " + s + "?"
	}
	dashes := "--"
	if len(name) == 1 {
		dashes = "-"
	}
	return failure.Usagef("unknown flag %s%s%s (see pexctl %s --help)", dashes, name, meant, cmd.HelpName)
}

// refusedValue is how the flag parser refuses a value.
var refusedValue = regexp.MustCompile(`^invalid (?:boolean )?value ("(?:[^"\\]|\\.)*") for (?:flag )?-([^:]+): `)

// WrongValue says which value a flag does not take, and what it takes.
func WrongValue(cmd *cli.Command, err error) error {
	said := refusedValue.FindStringSubmatch(err.Error())
	if said == nil || cmd == nil {
		return failure.Usagef("%w", err)
	}
	takes := ""
	switch FlagOf(cmd, said[2]).(type) {
	case *cli.IntFlag, *cli.Int64Flag:
		takes = "a whole number"
	case *cli.Float64Flag:
		takes = "a number"
	case *cli.DurationFlag:
		takes = "a time such as 90s or 2h"
	case *cli.BoolFlag:
		takes = "true or false, or nothing"
	default:
		return failure.Usagef("%w", err)
	}
	return failure.Usagef("--%s takes %s, and %s is none (see pexctl %s --help)", said[2], takes, said[1], cmd.HelpName)
}
