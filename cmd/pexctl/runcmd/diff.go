package runcmd

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/textdiff"
	"github.com/pexctl/pex/internal/app/failure"
)

func runsDiffCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "diff", Usage: "Compare two runs and show the first call that differs", ArgsUsage: "RUN OTHER",
		Description: ui.Help(project.RunNames+"\n\n"+ui.DiffHelp,
			"pexctl runs diff RUN OTHER",
			"pexctl runs diff RUN last # Compare with the latest run",
			"pexctl runs diff RUN OTHER -o markdown > comment.md # For a pull request",
			"pexctl runs diff RUN OTHER -o json | jq -r .first.class # Class of the difference: prompt, tools, ...",
		),
		Flags:  []cli.Flag{ui.ExitCodeFlag(), ui.OutputFlag("text", "json", "markdown"), project.HomeFlag()},
		Action: env.Action(runsDiff, 2),
	}
}

func runsDiff(c *ui.Call) error {
	if len(c.Args) < 2 {
		return failure.WithHintf(failure.Usagef("runs diff needs two runs"), "use pexctl runs diff RUN OTHER; pexctl runs ls lists runs")
	}
	s, err := project.OpenRuns(c, "")
	if err != nil {
		return err
	}
	var side [2]*runs.Run
	for i := range side {
		run, err := s.Find(c.Arg(i))
		if err != nil {
			return project.RunError(c, s, err)
		}
		if side[i], err = project.ReadRun(c, s, run); err != nil {
			return err
		}
	}
	d, err := runs.Compare(c.Context, side[0], side[1], runs.Formatter{Diff: textdiff.Files, Duration: text.Duration})
	if err != nil {
		return failure.Infra(err)
	}
	switch c.Format {
	case "json":
		err = ui.PrintJSON(c, d)
	case "markdown":
		writeMarkdown(c.Stdout, d)
	default:
		printComparison(c, d)
	}
	if err != nil {
		return err
	}
	if !d.Same && c.Bool("exit-code") {
		return ui.Exit(ui.ExitNegative, nil)
	}
	return nil
}

// printComparison writes how two runs differ.
func printComparison(c *ui.Call, d *runs.Comparison) {
	w := ui.Styled(c.Stdout)
	if d.Same {
		fmt.Fprintf(c.Stderr, "no differences between %s and %s\n", d.A, d.B)
		return
	}
	rows := [][]string{{"", d.A, d.B}}
	for _, f := range d.Fields {
		rows = append(rows, []string{f.Name, shortValue(f.A), shortValue(f.B)})
	}
	ui.Table(w, rows)
	for _, p := range d.Prompts {
		fmt.Fprintf(w, "\nPrompt %s\n", strings.Join(p.Names, ", "))
		ui.PrintDiff(w, p.Diff)
	}
	if d.First != nil {
		fmt.Fprintf(w, "\nThe first call that differs: %s (%s)\n", d.First.Path, d.First.Class)
		for _, x := range d.First.Diffs {
			fmt.Fprintf(w, "\n%s: %s\n", x.Class, x.What)
			ui.PrintDiff(w, x.Diff)
		}
	}
	for _, part := range []struct{ title, diff string }{{"Plan and steps", d.Steps}, {"Answer", d.Answer}} {
		if part.diff != "" {
			fmt.Fprintf(w, "\n%s\n", part.title)
			ui.PrintDiff(w, part.diff)
		}
	}
}

// shortValue returns a value that fits into a column: of a digest the beginning.
func shortValue(s string) string {
	if hex, ok := strings.CutPrefix(s, "sha256:"); ok && len(hex) > 12 {
		return hex[:12]
	}
	return tty.OneLine(cmp.Or(s, "-"), 60)
}
