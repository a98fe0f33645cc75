package toolcmd

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
	args, memoryID                 string
	check, offline, schema, update bool
	param                          []string
}

// withFlags reads the flags of a command before it runs.
func withFlags(do func(*call) error) func(*ui.Call) error {
	return func(c *ui.Call) error { return do(&call{c, readFlags(c)}) }
}

func readFlags(c *ui.Call) flags {
	return flags{
		args:     c.String("args"),
		check:    c.Bool("check"),
		memoryID: c.String("memory-id"),
		offline:  c.Bool("offline"),
		param:    c.StringSlice("param"),
		schema:   c.Bool("schema"),
		update:   c.Bool("update"),
	}
}
