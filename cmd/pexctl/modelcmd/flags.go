package modelcmd

import (
	"time"

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
	jobs       int
	llm, param []string
	timeout    time.Duration
}

// withFlags reads the flags of a command before it runs.
func withFlags(do func(*call) error) func(*ui.Call) error {
	return func(c *ui.Call) error { return do(&call{c, readFlags(c)}) }
}

func readFlags(c *ui.Call) flags {
	return flags{
		jobs:    c.Int("jobs"),
		llm:     c.StringSlice("llm"),
		param:   c.StringSlice("param"),
		timeout: c.Duration("timeout"),
	}
}
