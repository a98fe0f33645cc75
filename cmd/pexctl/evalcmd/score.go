package evalcmd

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/outputs"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
	"github.com/pexctl/pex/internal/app/failure"
)

// suiteArg returns the suite in the arguments, without building its checks.
func suiteArg(c *call) (*suite, error) {
	if len(c.Args) == 0 {
		return nil, failure.WithHintf(failure.Usagef("no suite given"), "use pexctl %s suite.yaml", c.Name)
	}
	if err := c.AtMost(1); err != nil {
		return nil, err
	}
	read, found := dsl.LoadSuite(c.Arg(0), project.SpecOptions(c.Call))
	if err := ui.ShowDiagnostics(c.Call, found); err != nil {
		return nil, err
	}
	return &suite{Suite: read, file: c.Arg(0)}, nil
}

func evalScoreCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "score", Usage: "Grade a stored evaluation again with the current checks", ArgsUsage: "SUITE",
		Description: ui.Help("Runs no agent. Stores the new grades as a new evaluation and leaves the old one unchanged. LLM judges are called again if the suite has them.",
			"pexctl eval score suite.yaml # The latest evaluation of the suite",
			"pexctl eval score suite.yaml --id e-20260102-150405-1a2b3c4d --html again.html",
		),
		Flags: append(append(suiteFlags(),
			&cli.StringFlag{Name: "id", Value: "last", Usage: "`ID`: Id of the evaluation (default: the latest of the suite)"},
			&cli.IntFlag{Name: "concurrency", Aliases: []string{"j"}, Usage: "Grade `N` rows at a time"},
			&cli.StringFlag{Name: "baseline", Usage: "Compare with `WHAT`: a baseline file, git:REF (the suite's baseline in that commit), git:REF:PATH, or run:ID (an evaluation)"},
		), append(append(outputs.ReportFlags(), ui.LiveFlags()...), ui.OutputFlag(), project.HomeFlag())...),
		Action: env.Action(withFlags(evalScore), 1),
	}
}

func evalScore(c *call) error {
	if len(c.Args) == 0 {
		return failure.WithHintf(failure.Usagef("no suite given"), "use pexctl eval score suite.yaml")
	}
	out, err := outputs.Open(c.Call)
	if err != nil {
		return err
	}
	s, err := loadSuite(c, c.Arg(0))
	if err != nil {
		return err
	}
	c.Trace.Mask(s.secrets(c.Catalog)...)
	if err := ui.ShowDiagnostics(c.Call, s.graderKeys()); err != nil {
		return err
	}
	home := project.HomeOf(c.Call, s.Root)
	from, err := s.earlier(home, c.id, "id")
	if err != nil {
		return err
	}
	a, err := s.baseline(c, c.baseline, home)
	if err != nil {
		return err
	}
	to, err := s.regrade(c, from)
	if err != nil {
		return err
	}
	o := report.Options{Suite: s.Suite}
	if a != nil {
		o.Baseline, o.Ref = a.file, a.ref
	}
	r, rows, err := rebuildReport(to, o)
	if err != nil {
		return err
	}
	r.Warnings = append(r.Warnings, s.warnings...)
	if err := out.Eval(r, rows); err != nil {
		return err
	}
	return verdictOf(r)
}

// regrade creates an evaluation from the rows of another one, with new grades.
func (s *suite) regrade(c *call, from string) (to string, err error) {
	m, err := batch.ReadManifest(from)
	if err != nil {
		return "", failure.Infra(err)
	}
	rows, err := batch.OpenRows(from)
	if err != nil {
		return "", failure.Infra(err)
	}
	if err := s.checkPrompts(rows); err != nil {
		return "", err
	}
	ctx, stop := ui.OnSignal(c.Context, func() {})
	defer stop()
	now := time.Now()
	m.ID, m.Grading, m.Checks = "e"+runs.NewID(now)[1:], s.GradingDigest, s.checkInfos()
	m.Started = now.UTC().Round(time.Millisecond) // the latest of its suite
	m.Labels = addLabel(m.Labels, batch.ScoredLabel, filepath.Base(from))
	to = filepath.Join(filepath.Dir(from), m.ID)
	err = batch.Regrade(ctx, rows, s.checks, to, m, cmp.Or(s.Concurrency, 4), mask(s.earlierSecrets(c.Catalog, from, m)))
	switch {
	case ctx.Err() != nil:
		return "", ui.Exit(ui.SignalCode(context.Cause(ctx)), errors.New("interrupted; nothing was graded"))
	case err != nil:
		return "", failure.Infra(err)
	}
	return to, nil
}

// checkPrompts reports an error if a check reads prompts that the evaluation did not
// store.
func (s *suite) checkPrompts(rows trial.Rows) error {
	if !needsPrompts(s.checks) {
		return nil
	}
	for row, err := range rows() {
		switch {
		case err != nil:
			return failure.Infra(err)
		case row.Run.ModelCalls > 0 && len(row.Run.Prompts) == 0:
			return failure.Usagef("a check uses trace.prompts, which these trials did not store; run the suite again with that check")
		case row.Run.ModelCalls > 0:
			return nil
		}
	}
	return nil
}

func addLabel(labels map[string]string, name, value string) map[string]string {
	out := map[string]string{name: value}
	for k, v := range labels {
		if k != name {
			out[k] = v
		}
	}
	return out
}
