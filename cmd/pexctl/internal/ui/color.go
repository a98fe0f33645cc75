package ui

import (
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/internal/app/failure"
)

// ColorMode is the value of --color.
type ColorMode string

// Values of --color. The zero ColorMode is ColorAuto.
const (
	ColorAuto   ColorMode = "auto" // on a terminal, unless the environment sets it
	ColorAlways ColorMode = "always"
	ColorNever  ColorMode = "never"
)

// ColorModes are the values of --color.
var ColorModes = []string{string(ColorAuto), string(ColorAlways), string(ColorNever)}

// colorFlag returns --color, which every command has. TakeColor reads it, so that
// it also applies to errors in the arguments.
func colorFlag() cli.Flag {
	return &cli.StringFlag{Name: "color", Category: groupGlobal, Usage: "`WHEN`: Color the output: auto, always or never (default: auto)"}
}

// TakeColor removes --color from arguments and returns its value. It may come
// before or after the command.
func TakeColor(args []string) (mode ColorMode, rest []string, err error) {
	end := len(args)
	if i := slices.Index(args, "--"); i >= 0 {
		end = i
	}
	for i := 0; i < end; i++ {
		value, ok := strings.CutPrefix(args[i], "--color=")
		switch {
		case ok:
		case args[i] == "--color" && i+1 < end:
			i++
			value = args[i]
		case args[i] == "--color":
			return "", args, failure.Usagef("--color needs a value: auto, always or never")
		default:
			rest = append(rest, args[i])
			continue
		}
		if mode = ColorMode(value); !slices.Contains(ColorModes, value) {
			return "", args, failure.Usagef("invalid value %q for --color; use auto, always or never", value)
		}
	}
	return mode, append(rest, args[end:]...), nil
}

// UsesColor reports whether a stream gets colors: by --color, or else by the
// environment (NO_COLOR, CLICOLOR_FORCE, FORCE_COLOR), or else if it is a
// terminal that supports them.
func UsesColor(stream any) bool {
	if o := outputOf(stream); o != nil && o.Color != "" && o.Color != ColorAuto {
		return o.Color == ColorAlways
	}
	if os.Getenv("NO_COLOR") != "" {
		return false
	}
	for _, name := range []string{"FORCE_COLOR", "CLICOLOR_FORCE"} {
		if v := os.Getenv(name); v != "" && v != "0" && v != "false" {
			return true
		}
	}
	_, ok := Terminal(stream)
	return ok && os.Getenv("TERM") != "dumb"
}
