package initcmd

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
	agent, connector, with []string
	force, list, run       bool
	name, out, baseURL     string
}

// withFlags reads the flags of a command before it runs.
func withFlags(do func(*call) error) func(*ui.Call) error {
	return func(c *ui.Call) error { return do(&call{c, readFlags(c)}) }
}

func readFlags(c *ui.Call) flags {
	return flags{
		agent:     c.StringSlice("agent"),
		baseURL:   c.String("base-url"),
		connector: c.StringSlice("connector"),
		force:     c.Bool("force"),
		list:      c.Bool("list"),
		name:      c.String("name"),
		out:       c.String("out"),
		run:       c.Bool("run"),
		with:      c.StringSlice("with"),
	}
}
