package speccmd

import (
	"errors"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl/analysis"
	"github.com/pexctl/pex/dsl/lsp"
	"github.com/pexctl/pex/internal/app/version"
)

// LSPCommand returns "pexctl lsp".
func LSPCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "lsp", Usage: "Start the language server for editors (LSP over stdin and stdout)",
		Description: ui.Help("", "pexctl lsp", "pexctl lsp --root . --prices prices.yaml # As an editor starts it"),
		Flags: append(project.SpecFiles(),
			&cli.BoolFlag{Name: "stdio", Usage: "Use stdin and stdout, the only transport; accepted because some editors pass it"},
		),
		Action: env.Action(withFlags(serveEditor), 0),
	}
}

// serveEditor serves the client on stdin and stdout. Stdout is reserved for the
// protocol.
func serveEditor(c *call) error {
	spec := project.SpecOptions(c.Call)
	spec.Analyzers = analysis.All()
	o := lsp.Options{Spec: spec, Version: version.String(), Log: c.Stderr}
	err := lsp.Serve(c.Context, c.Stdin, keepOpen{ui.Verbatim(c.Stdout)}, o)
	if errors.Is(err, lsp.ErrNoShutdown) {
		return ui.Exit(ui.ExitNegative, err)
	}
	return err
}

// keepOpen is a writer that the server must not close.
type keepOpen struct{ io.Writer }

// Close does nothing.
func (keepOpen) Close() error { return nil }
