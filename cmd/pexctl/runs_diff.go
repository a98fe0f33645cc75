package main

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/drift"
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
	dir, home, err := homeOfRuns(c, "")
	if err != nil {
		return err
	}
	var side [2]*past
	for i := range side {
		run, err := runNamed(c, dir, home, c.Arg(i))
		if err != nil {
			return err
		}
		if side[i], err = (target{dir, home, run}).past(c); err != nil {
			return err
		}
	}
	d, err := compare(c, side[0], side[1])
	if err != nil {
		return err
	}
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

func compare(c *ui.Call, a, b *past) (*runDiff, error) {
	ra, rb := a.now(c.Context), b.now(c.Context)
	d := &runDiff{A: ra.RunID, B: rb.RunID, Fields: compareFields(a, b, ra, rb)}
	d.Steps = textDiff(d.A, stepsText(ra), d.B, stepsText(rb))
	d.Answer = textDiff(d.A, line(ra.Response), d.B, line(rb.Response))
	at, err := drift.Part(a.records, b.records)
	if err != nil {
		return nil, failure.Infra(fmt.Errorf("compare runs: %w", err))
	}
	if at != nil {
		d.First = &partingDiff{Path: at.Path, Class: at.Class}
		for _, x := range at.Differences {
			d.First.Diffs = append(d.First.Diffs, callDiff{x.Class, x.What, textDiff(d.A, x.Before, d.B, x.After)})
		}
	}
	d.Same = len(d.Fields) == 0 && d.Steps == "" && d.Answer == "" && d.First == nil
	if !d.Same { // how long they took never is the same, so by itself it is no difference
		d.Fields = append(d.Fields, fieldDiff{"duration", took(ra), took(rb)})
	}
	return d, nil
}

func took(res *engine.Result) string {
	return tty.Span(time.Duration(res.DurationMS) * time.Millisecond)
}

// line is a text that ends with a line end; "" stays "".
func line(s string) string {
	if s == "" {
		return ""
	}
	return strings.TrimRight(s, "\n") + "\n"
}

// compareFields is the figures that are not the same.
func compareFields(a, b *past, ra, rb *engine.Result) []fieldDiff {
	out := []fieldDiff{}
	add := func(name, x, y string) {
		if x != y {
			out = append(out, fieldDiff{name, x, y})
		}
	}
	count := func(name string, x, y int) { add(name, strconv.Itoa(x), strconv.Itoa(y)) }
	add("spec", strings.TrimSpace(ra.Spec.Name+" "+ra.Spec.Version), strings.TrimSpace(rb.Spec.Name+" "+rb.Spec.Version))
	add("digest", ra.Spec.Digest, rb.Spec.Digest)
	add("question", asked(a), asked(b))
	add("status", string(ra.Status), string(rb.Status))
	add("stop reason", string(ra.StopReason.Code), string(rb.StopReason.Code))
	count("plan version", ra.Plan.Version, rb.Plan.Version)
	count("steps", len(ra.Steps), len(rb.Steps))
	count("model calls", ra.Usage.ModelCalls, rb.Usage.ModelCalls)
	count("tool calls", ra.Usage.ToolCalls, rb.Usage.ToolCalls)
	count("input tokens", ra.Usage.Input, rb.Usage.Input)
	count("output tokens", ra.Usage.Output, rb.Usage.Output)
	add("cost", ui.Cost(ra.Usage.CostUSD), ui.Cost(rb.Usage.CostUSD))
	return out
}

func asked(p *past) string {
	question, _ := p.start.Input.Parameters["question"].(string)
	return question
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
