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

// LSPCommand is "pexctl lsp".
func LSPCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "lsp", Usage: "the language server of specs, for editors: speaks the Language Server Protocol over stdin and stdout",
		Description: ui.Examples("pexctl lsp", "pexctl lsp --root . --prices prices.yaml   # as an editor would start it"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "root", Usage: "project root: no file outside this `DIR` is read"},
			project.AllowFlag(),
			ui.PricesFlag(),
			&cli.BoolFlag{Name: "stdio", Usage: "speak over stdin and stdout, as always; some editors say so"},
		},
		Action: env.Action(withFlags(serveEditor), 0),
	}
}

// serveEditor serves the one client that stdin and stdout belong to. Stdout is
// the protocol's alone.
func serveEditor(c *call) error {
	spec := project.SpecOptions(c.Call)
	spec.Analyzers = analysis.All()
	o := lsp.Options{Spec: spec, Version: version.String(), Log: c.Stderr}
	err := lsp.Serve(c.Context, c.Stdin, open{ui.Verbatim(c.Stdout)}, o)
	if errors.Is(err, lsp.ErrNoShutdown) {
		return ui.Exit(ui.ExitNegative, err)
	}
	return err
}

// open is a writer that is not ours to close.
type open struct{ io.Writer }

// Close does nothing.
func (open) Close() error { return nil }
