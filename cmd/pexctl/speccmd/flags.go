package speccmd

import (
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
)

// call is a call of one of these commands, with its flags.
type call struct {
	*ui.Call
	flags
}

// flags are the flags of all commands of this package. Flags that a command does
// not have are zero.
type flags struct {
	check, showCost, exitCode, explain, noRenames, strict bool
	contextTokens, maxCalls, maxTokens                    int
	driver, given, node, run                              string
	maxCost                                               float64
	param                                                 []string
}

// withFlags reads the flags of a command before it runs.
func withFlags(do func(*call) error) func(*ui.Call) error {
	return func(c *ui.Call) error { return do(&call{c, readFlags(c)}) }
}

func readFlags(c *ui.Call) flags {
	return flags{
		check:         c.Bool("check"),
		contextTokens: c.Int("context"),
		showCost:      c.Bool("cost"),
		driver:        c.String("driver"),
		exitCode:      c.Bool("exit-code"),
		explain:       c.Bool("explain"),
		given:         c.String("given"),
		maxCalls:      c.Int("max-calls"),
		maxCost:       c.Float64("max-cost"),
		maxTokens:     c.Int("max-tokens"),
		noRenames:     c.Bool("no-renames"),
		node:          c.String("node"),
		param:         c.StringSlice("param"),
		run:           c.String("run"),
		strict:        c.Bool("strict"),
	}
}
