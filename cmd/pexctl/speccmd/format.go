package speccmd

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

// FmtCommand returns "pexctl fmt".
func FmtCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "fmt", Aliases: []string{"format"}, Usage: "Format spec files without changing comments or values", ArgsUsage: "SPEC... | -",
		Description: ui.Help("", "pexctl fmt spec.yaml", "pexctl fmt --check specs/*/ # In CI", "pexctl fmt - < spec.yaml # From stdin to stdout"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "check", Usage: "Change nothing; exit with 1 if a file is not formatted"},
			ui.OutputFlag(),
		},
		Action: env.Action(withFlags(format)),
	}
}

func format(c *call) error {
	if _, err := project.SpecArg(c.Call); err != nil {
		return err
	}
	changed := []string{}
	for _, path := range c.Args {
		if path == "-" {
			if err := formatStdin(c, c.JSON); err != nil {
				return err
			}
			continue
		}
		name, differs, err := formatFile(c, path)
		if err != nil {
			return err
		}
		if differs {
			changed = append(changed, name)
		}
	}
	if err := printChanged(c, changed, c.JSON); err != nil {
		return err
	}
	if len(changed) > 0 && c.check {
		return ui.Exit(ui.ExitNegative, nil)
	}
	return nil
}

// printChanged lists the files that were, or would be, changed.
func printChanged(c *call, changed []string, wantJSON bool) error {
	if wantJSON {
		return ui.PrintJSON(c.Call, struct {
			Changed []string `json:"changed"`
		}{changed})
	}
	for _, name := range changed {
		fmt.Fprintln(c.Stdout, name)
	}
	return nil
}

// formatStdin writes formatted stdin to stdout. With --check it only reports
// whether that would differ.
func formatStdin(c *call, wantJSON bool) error {
	const most = 2 << 20
	if len(c.Args) > 1 || wantJSON {
		return failure.WithHintf(failure.Usagef("- cannot be combined with files or -o"), "use pexctl fmt - < spec.yaml")
	}
	src, err := io.ReadAll(io.LimitReader(c.Stdin, most))
	if err != nil {
		return failure.Infra(fmt.Errorf("stdin: %w", err))
	}
	out, found := dsl.Format(src)
	for i := range found {
		found[i].File = "stdin"
	}
	if err := ui.ShowDiagnostics(c.Call, found); err != nil {
		return err
	}
	if c.check {
		if !bytes.Equal(src, out) {
			return ui.Exit(ui.ExitNegative, nil)
		}
		return nil
	}
	_, err = ui.Verbatim(c.Stdout).Write(out)
	return err
}

// formatFile formats one file in place, and returns its name and whether it
// differed.
func formatFile(c *call, path string) (name string, differs bool, err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, "spec.yaml")
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return path, false, failure.Usagef("%w", err)
	}
	out, found := dsl.Format(src)
	for i := range found {
		found[i].File = path
	}
	if err := ui.ShowDiagnostics(c.Call, found); err != nil {
		return path, false, err
	}
	if bytes.Equal(src, out) || c.check {
		return path, !bytes.Equal(src, out), nil
	}
	err = fspath.WriteFile(path, 0o644, func(w io.Writer) error { _, err := w.Write(out); return err })
	if err != nil {
		return path, true, failure.Infra(err)
	}
	return path, true, nil
}
