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

var _ tool.TokenStore = host.TokenStore{}

// SignIn returns s for a command whose user may have to sign in to a server. The
// tokens are stored in the home of the spec even if nothing else is.
func SignIn(c *ui.Call, spec *dsl.Spec, s host.Settings) host.Settings {
	s.Tokens, s.Browse = HomeDir(c, spec), browser(c)
	return s
}

// browser returns a function that prints a URL on the terminal, or nil without a
// terminal.
func browser(c *ui.Call) func(context.Context, string) error {
	if _, ok := ui.Terminal(c.Stderr); !ok {
		return nil
	}
	return func(_ context.Context, address string) error {
		_, err := fmt.Fprintf(c.Stderr, "To sign in, open this URL in a browser on this machine:\n  %s\n", tty.Safe(address))
		return err
	}
}
