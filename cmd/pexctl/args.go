package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// arrange makes arguments into what the flag parser takes, which stops at the
// first argument: a command's flags are moved before its arguments, as in
// `run spec.yaml "question" -o json`. What follows "--" stays as it is. What
// the parser would not know is refused here, with what was probably meant.
func arrange(app *cli.App, args []string) ([]string, error) {
	if len(args) == 0 {
		return nil, nil
	}
	switch name := args[0]; {
	case name == "help":
		return append(append([]string{}, args[1:]...), "--help"), unknownCommand(app, append(args[1:], "run")[0])
	case name == "--version" || name == "-v":
		return []string{"version"}, nil
	case name == "--help" || name == "-h":
		return []string{"--help"}, nil
	case strings.HasPrefix(name, "-"):
		return nil, usage("unknown flag %s; a command comes first: pexctl run spec.yaml", name)
	}
	if err := unknownCommand(app, args[0]); err != nil {
		return nil, err
	}
	cmd := app.Command(args[0])
	flags, rest, err := sorted(cmd, args[1:])
	if err != nil {
		return nil, err
	}
	out := append([]string{cmd.Name}, flags...)
	if len(rest) > 0 {
		out = append(append(out, "--"), rest...)
	}
	return out, nil
}

// sorted tells a command's flags, with their values, from its arguments.
func sorted(cmd *cli.Command, args []string) (flags, rest []string, err error) {
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
		f := flagOf(cmd, name)
		switch {
		case name == "help" || name == "h":
			return []string{"--help"}, nil, nil // whatever else is asked for
		case f == nil:
			return nil, nil, unknownFlag(cmd, name)
		case inline || !takesValue(f):
		case i+1 == len(args):
			return nil, nil, usage("%s needs a value (see pexctl %s --help)", arg, cmd.Name)
		default:
			i++
			flags = append(flags, args[i])
		}
	}
	return flags, rest, nil
}

func flagOf(cmd *cli.Command, name string) cli.Flag {
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

func unknownFlag(cmd *cli.Command, name string) error {
	var names []string
	for _, f := range cmd.Flags {
		names = append(names, f.Names()[0])
	}
	meant := ""
	if near := nearest(name, append(names, "help")); near != "" {
		meant = "; did you mean --" + near + "?"
	}
	dashes := "--"
	if len(name) == 1 {
		dashes = "-"
	}
	return usage("unknown flag %s%s%s (see pexctl %s --help)", dashes, name, meant, cmd.Name)
}

// unknownCommand refuses a name that is none; nil = there is such a command.
func unknownCommand(app *cli.App, name string) error {
	if app.Command(name) != nil {
		return nil
	}
	var names []string
	for _, c := range app.Commands {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	if near := nearest(name, names); near != "" {
		return usage("unknown command %q; did you mean %s?", name, near)
	}
	return usage("unknown command %q; there are %s", name, listed(names))
}
