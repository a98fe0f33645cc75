package storecmd

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
	all, dryRun       bool
	keep              int
	olderThan, repair string
}

// withFlags reads the flags of a command before it runs.
func withFlags(do func(*call) error) func(*ui.Call) error {
	return func(c *ui.Call) error { return do(&call{c, readFlags(c)}) }
}

func readFlags(c *ui.Call) flags {
	return flags{
		all:       c.Bool("all"),
		dryRun:    c.Bool("dry-run"),
		keep:      c.Int("keep"),
		olderThan: c.String("older-than"),
		repair:    c.String("repair"),
	}
}
