package runcmd

import (
	"fmt"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/app/apiclient"
	"github.com/pexctl/pex/internal/app/host"
)

// rehearseFork prints what a fork would do.
func rehearseFork(c *ui.Call, s *runs.Service, parent string, fork runs.Fork, prompts map[string]string) error {
	r, err := s.RehearseFork(c.Context, parent, fork)
	if err != nil {
		return forkError(c, s, err)
	}
	start, err := s.StartOf(parent)
	if err != nil {
		return project.RunError(c, s, err)
	}
	out := apiclient.Rehearsal{Rehearsal: *r, Diagnostics: diag.List{}}
	if c.String("spec") == "" {
		o := host.RecompileOptions(c.Catalog, start.Input.Origin, c.Set...)
		o.Prompts, o.Prices = prompts, c.Prices()
		out.Diagnostics = append(out.Diagnostics, host.NewFindings(start.Program, start.Input.Origin.Dir, o)...)
	}
	return printRehearsal(c, &out)
}

// printRehearsal prints what a fork would do. The exit code is 1 if it would fail.
func printRehearsal(c *ui.Call, r *apiclient.Rehearsal) error {
	if c.JSON {
		if err := ui.PrintJSON(c, r); err != nil {
			return err
		}
	} else {
		ui.WriteDiagnostics(c.Stderr, r.Diagnostics)
		for _, line := range r.Lines() {
			fmt.Fprintln(c.Stdout, ui.Safe(c.Stdout, line))
		}
	}
	if r.Fails == nil {
		return nil
	}
	fmt.Fprintf(c.Stderr, "Fork from this call (--at %s), or make the calls that differ live: --on-drift live\n", ui.Safe(c.Stderr, r.Fails.Path))
	return ui.Exit(ui.ExitNegative, nil)
}
