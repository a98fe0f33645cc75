package project

import (
	"context"
	"fmt"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/app/host"
)

var _ tool.Vault = host.Vault{}

// SignIn is s for a command whose user may be asked to sign in at a server:
// what that gives is kept in the spec's home also where nothing else is.
func SignIn(c *ui.Call, spec *dsl.Spec, s host.Settings) host.Settings {
	s.Tokens, s.Browse = HomeDir(c, spec), browser(c)
	return s
}

// browser shows an address to whoever is at the terminal; nil = nobody is.
func browser(c *ui.Call) func(context.Context, string) error {
	if _, ok := ui.Terminal(c.Stderr); !ok {
		return nil
	}
	return func(_ context.Context, address string) error {
		_, err := fmt.Fprintf(c.Stderr, "to sign in, open this address in a browser on this machine:\n  %s\n", tty.Safe(address))
		return err
	}
}
