package evalcmd

import (
	"path/filepath"

	"github.com/urfave/cli/v2"

	formats "github.com/pexctl/pex/builtins/report"
	"github.com/pexctl/pex/cmd/pexctl/internal/outputs"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/serverclient"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
	"github.com/pexctl/pex/internal/app/failure"
)

func evalShowCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "Show the report of a stored evaluation, in any format", ArgsUsage: "ID | last",
		Description: ui.Help("",
			"pexctl eval show last",
			"pexctl eval show last --html eval.html # Every trial with its plan, steps and checks",
			"pexctl eval show e-20260102-150405-1a2b3c4d --junit eval.xml --csv rows.csv",
			"pexctl eval show last --suite suite.yaml # With the current gates of the suite",
			"pexctl eval show last --case c-17 # The run of one case",
		),
		Flags: append(append(suiteFlags(), suiteFlag(),
			&cli.StringFlag{Name: "baseline", Usage: "Compare with `WHAT`: a baseline file, git:REF (the suite's baseline in that commit), git:REF:PATH, or run:ID (an evaluation) (default: that of the suite)"},
			&cli.StringFlag{Name: "case", Usage: "Show the run of case `ID` instead"},
			&cli.StringFlag{Name: "variant", Usage: "With --case: the variant `NAME`"},
			&cli.IntFlag{Name: "trial", Value: 1, Usage: "With --case: the trial number `N` (default: 1)"},
			&cli.BoolFlag{Name: "conversation", Usage: "With --case: include the prompt and reply of every model call"},
		), append(outputs.ReportFlags(), ui.OutputFlag(), project.HomeFlag(), serverclient.Flag())...),
		Action: env.Action(withFlags(evalShow), 1),
	}
}

func suiteFlag() cli.Flag {
	return &cli.StringFlag{Name: "suite", Usage: "`FILE`: Suite file (default: the suite of the evaluation)"}
}

func evalShow(c *call) error {
	if len(c.Args) == 0 {
		return failure.WithHintf(failure.Usagef("no evaluation given"), "use pexctl eval show last; pexctl eval ls lists evaluations")
	}
	out, err := outputs.Open(c.Call)
	if err != nil {
		return err
	}
	server, err := openServer(c, "json", "markdown", "html")
	if err != nil {
		return err
	}
	if server != nil {
		return server.show(out)
	}
	if c.caseID != "" {
		return showTrial(c, out.JSON)
	}
	r, rows, err := pastEvaluation(c, c.Arg(0))
	if err != nil {
		return err
	}
	if err := out.Eval(r, rows); err != nil {
		return err
	}
	return verdictOf(r)
}

// pastEvaluation makes the report of a past evaluation again, with gates and
// baseline of its suite if that can still be read.
func pastEvaluation(c *call, id string) (*report.Report, trial.Rows, error) {
	home, err := project.HomeHere(c.Call)
	if err != nil {
		return nil, nil, err
	}
	dir, err := pastFolder(home, id)
	if err != nil {
		return nil, nil, err
	}
	m, err := batch.ReadManifest(dir)
	if err != nil {
		return nil, nil, failure.Infra(err)
	}
	s := suiteOf(c, m)
	if s == nil {
		return rebuildReport(dir, report.Options{})
	}
	o := report.Options{Suite: s.Suite}
	a, err := s.baseline(c, c.baseline, home)
	if err != nil && c.IsSet("baseline") {
		return nil, nil, err
	}
	if err != nil {
		s.warnings = append(s.warnings, err.Error())
	}
	if a != nil {
		o.Baseline, o.Ref = a.file, a.ref
	}
	r, rows, err := rebuildReport(dir, o)
	if err == nil {
		r.Warnings = append(r.Warnings, s.warnings...)
	}
	return r, rows, err
}

// suiteOf returns the current version of an evaluation's suite, or nil after
// reporting that it is missing or invalid.
func suiteOf(c *call, m report.Manifest) *suite {
	path := c.suite
	if path == "" {
		path = m.File
	}
	read, found := dsl.LoadSuite(path, project.SpecOptions(c.Call))
	if found.Failed() || read == nil {
		ui.Logf(c.Call, "warning: %s cannot be read, so its gates are not evaluated (use --suite FILE for another file)", path)
		return nil
	}
	if read.Name != m.Suite {
		ui.Logf(c.Call, "warning: %s now contains suite %s, not %s, so its gates are not evaluated (use --suite FILE for another file)", path, read.Name, m.Suite)
		return nil
	}
	if read.Digest != m.Digest {
		ui.Logf(c.Call, "warning: %s has changed since this evaluation; its current gates are used", path)
	}
	return &suite{Suite: read, file: path}
}

// pastFolder returns the folder of an evaluation; the id last means the latest of
// all suites.
func pastFolder(home, id string) (string, error) {
	all, err := evaluations(home)
	if err != nil {
		return "", err
	}
	var ids []string
	for _, m := range all {
		if m.ID == id || id == "last" && m.V > 0 {
			return filepath.Join(project.EvalsDir(home), m.ID), nil
		}
		ids = append(ids, m.ID)
	}
	if near := ui.Nearest(id, ids); near != "" {
		return "", failure.Usagef("no evaluation %s in %s; did you mean %s?", id, home, near)
	}
	return "", failure.WithHintf(failure.Usagef("no evaluation %s in %s", id, home), "pexctl eval ls lists evaluations")
}

func evalDiffCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "diff", Usage: "Compare two evaluations statistically", ArgsUsage: "BEFORE AFTER",
		Description: ui.Help(ui.DiffHelp+"\n\nExit codes: 0 AFTER is no worse; 1 it is worse or lacks cases of BEFORE; 4 inconclusive.",
			"pexctl eval diff e-20260102-150405-1a2b3c4d last",
			"pexctl eval diff BEFORE AFTER -o markdown > comment.md # For a pull request",
			"pexctl eval diff BEFORE AFTER -o json | jq .comparison.verdict",
		),
		Flags: []cli.Flag{
			&cli.Float64Flag{Name: "margin", Value: 0.02, Usage: "Accept a drop in the pass rate of less than `SHARE` as non-inferior; 0.02, the default, is 2 percentage points"},
			&cli.StringFlag{Name: "markdown", Usage: "Also write the comparison to a Markdown `FILE`"},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "Print no warnings on stderr"},
			ui.OutputFlag("text", "json", "markdown"), project.HomeFlag(),
		},
		Action: env.Action(withFlags(evalDiff), 2),
	}
}

func evalDiff(c *call) error {
	if len(c.Args) < 2 {
		return failure.WithHintf(failure.Usagef("eval diff needs two evaluations"), "use pexctl eval diff BEFORE AFTER; pexctl eval ls lists evaluations, last means the latest")
	}
	out, err := outputs.Open(c.Call)
	if err != nil {
		return err
	}
	home, err := project.HomeHere(c.Call)
	if err != nil {
		return err
	}
	var side [2]*report.Report
	var dirs [2]string
	for i := range side {
		if dirs[i], err = pastFolder(home, c.Arg(i)); err != nil {
			return err
		}
	}
	if side[0], _, err = rebuildReport(dirs[0], report.Options{}); err != nil {
		return err
	}
	if side[1], _, err = rebuildReport(dirs[1], report.Options{}); err != nil { // both verdicts are without a baseline
		return err
	}
	before := report.Baseline(side[0])
	o := report.Options{Suite: &suitespec.Suite{Baseline: suitespec.Baseline{Margin: c.margin}, MaxErrors: suitespec.MaxErrors{Count: -1}, Quarantine: side[1].Manifest.QuarantinedAtStart()}, Baseline: before, Ref: "run:" + side[0].Manifest.ID}
	held, _, err := rebuildReport(dirs[1], o)
	if err != nil {
		return err
	}
	d := &formats.Diff{Before: side[0], After: side[1], Comparison: held.Comparison}
	if err := out.Diff(d); err != nil {
		return err
	}
	return differenceOf(d.Comparison, d.After)
}

// differenceOf returns the exit code of a comparison.
func differenceOf(c *report.Comparison, after *report.Report) error {
	switch {
	case c == nil:
		return nil
	case c.Verdict == report.Regressed, len(c.Removed) > 0 && after.Manifest.Filter == "":
		return ui.Exit(ui.ExitNegative, nil)
	case c.Verdict == report.Inconclusive:
		return ui.Exit(ui.ExitLimited, nil)
	}
	return nil
}
