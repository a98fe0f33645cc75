package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/drift"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/internal/app/failure"
)

func runsDiffCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "diff", Usage: "show where two runs went apart", ArgsUsage: "RUN OTHER",
		Description: ui.Examples(
			"pexctl runs diff RUN OTHER",
			"pexctl runs diff RUN last                                  # and the latest run",
			"pexctl runs diff RUN OTHER -o markdown > comment.md       # for a pull request",
			"pexctl runs diff RUN OTHER -o json | jq -r .first.class   # prompt, parameters, tools, arguments, ...",
		) + "\n\n" + runNames + "\n\n" + threeDiffs + "\n\nExit code 0, with --exit-code 1 where they differ.",
		Flags:  []cli.Flag{exitCodeFlag("runs"), ui.OutputFlagOf("text", "json", "markdown"), homeFlag()},
		Action: env.Action(runsDiff),
	}
}

func runsDiff(c *ui.Call) error {
	format, err := ui.Format(c, "text", "json", "markdown")
	if err != nil {
		return err
	}
	if len(c.Args) < 2 {
		return failure.Usagef("two runs are compared: pexctl runs diff RUN OTHER (pexctl runs ls lists them)")
	}
	if err := ui.AtMostArgs(c, 2); err != nil {
		return err
	}
	s, err := openRuns(c, "")
	if err != nil {
		return err
	}
	var side [2]*runs.Run
	for i := range side {
		run, err := s.Find(c.Arg(i))
		if err != nil {
			return runError(c, s, err)
		}
		if side[i], err = readRun(c, s, run); err != nil {
			return err
		}
	}
	found, err := runs.Compare(c.Context, side[0], side[1])
	if err != nil {
		return failure.Infra(err)
	}
	d := newRunDiff(found)
	switch format {
	case "json":
		err = ui.PrintJSON(c, d)
	case "markdown":
		d.markdown(c.Stdout)
	default:
		d.print(c)
	}
	if err != nil {
		return err
	}
	if !d.Same && c.Bool("exit-code") {
		return ui.Exit(ui.ExitNegative, nil)
	}
	return nil
}

// runDiff is how two runs differ.
type runDiff struct {
	A      string       `json:"a"` // run ids
	B      string       `json:"b"`
	Same   bool         `json:"same"`
	Fields []fieldDiff  `json:"fields"`
	Steps  string       `json:"steps,omitempty"` // unified diff of plan and steps
	First  *partingDiff `json:"first,omitempty"` // the first call that differs
	Answer string       `json:"answer,omitempty"`
}

// fieldDiff is a figure that is not the same.
type fieldDiff struct {
	Name string `json:"name"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// partingDiff is the first model or tool call that differs.
type partingDiff struct {
	Path  string      `json:"path"`
	Class drift.Class `json:"class"`
	Diffs []callDiff  `json:"diffs"`
}

// callDiff is one thing about a call that differs.
type callDiff struct {
	Class drift.Class `json:"class"`
	What  string      `json:"what"`
	Diff  string      `json:"diff"` // unified
}

func newRunDiff(c *runs.Comparison) *runDiff {
	d := &runDiff{A: c.A.RunID, B: c.B.RunID, Same: c.Same, Fields: []fieldDiff{}}
	d.Steps = textDiff(d.A, c.Steps[0], d.B, c.Steps[1])
	d.Answer = textDiff(d.A, line(c.A.Response), d.B, line(c.B.Response))
	if c.First != nil {
		d.First = &partingDiff{Path: c.First.Path, Class: c.First.Class}
		for _, x := range c.First.Differences {
			d.First.Diffs = append(d.First.Diffs, callDiff{x.Class, x.What, textDiff(d.A, x.Before, d.B, x.After)})
		}
	}
	for _, f := range c.Fields {
		d.Fields = append(d.Fields, fieldDiff{f.Name, figure(f.A), figure(f.B)})
	}
	return d
}

// figure is the value of a field for people.
func figure(v any) string {
	if took, ok := v.(time.Duration); ok {
		return tty.Span(took)
	}
	return fmt.Sprint(v)
}

// line is a text that ends with a line end; "" stays "".
func line(s string) string {
	if s == "" {
		return ""
	}
	return strings.TrimRight(s, "\n") + "\n"
}

func (d *runDiff) print(c *ui.Call) {
	w := ui.Styled(c.Stdout)
	if d.Same {
		fmt.Fprintf(c.Stderr, "%s and %s did the same\n", d.A, d.B)
		return
	}
	rows := [][]string{{"", d.A, d.B}}
	for _, f := range d.Fields {
		rows = append(rows, []string{f.Name, short(f.A), short(f.B)})
	}
	ui.Table(w, rows)
	if d.First != nil {
		fmt.Fprintf(w, "\nThe first call that differs: %s (%s)\n", d.First.Path, d.First.Class)
		for _, x := range d.First.Diffs {
			fmt.Fprintf(w, "\n%s: %s\n", x.Class, x.What)
			printDiff(w, x.Diff)
		}
	}
	for _, part := range []struct{ title, diff string }{{"Plan and steps", d.Steps}, {"Answer", d.Answer}} {
		if part.diff != "" {
			fmt.Fprintf(w, "\n%s\n", part.title)
			printDiff(w, part.diff)
		}
	}
}

// short is a value that fits into a column: of a digest its beginning.
func short(s string) string {
	if hex, ok := strings.CutPrefix(s, "sha256:"); ok && len(hex) > 12 {
		return hex[:12]
	}
	return tty.OneLine(cmp.Or(s, "-"), 60)
}

// printDiff writes a unified diff, in color on a terminal.
func printDiff(w io.Writer, diff string) {
	color := ui.UsesColor(w)
	for text := range strings.Lines(diff) {
		text = strings.TrimSuffix(ui.Safe(w, text), "\n")
		if ink := inkOf(text); color && ink != "" {
			text = ink + text + "\x1b[0m"
		}
		fmt.Fprintln(w, text)
	}
}

func inkOf(line string) string {
	switch {
	case strings.HasPrefix(line, "-"):
		return "\x1b[31m"
	case strings.HasPrefix(line, "+"):
		return "\x1b[32m"
	case strings.HasPrefix(line, "@@"):
		return "\x1b[2m"
	}
	return ""
}
