package evalcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/pexctl/pex/cmd/pexctl/internal/outputs"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/dataset"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/gitfs"
	"github.com/pexctl/pex/internal/app/homedir"
	"github.com/pexctl/pex/internal/app/version"
	"github.com/pexctl/pex/internal/gctune"
)

// evaluation is one execution of a suite.
type evaluation struct {
	*suite
	c        *call
	outputs  *outputs.Outputs
	home     string
	id       string
	resumed  bool
	watch    *evalWatch // nil without --watch
	resolved *resolvedBaseline
	cases    dataset.Cases
	tracer   trial.Tracer // nil = nothing is exported
	filter   dataset.Filter
	total    int // number of cases
}

func evalSuite(c *call) error {
	if len(c.Args) == 0 {
		return failure.WithHintf(failure.Usagef("no suite given"), "use pexctl eval suite.yaml; a folder means its suite.yaml")
	}
	if near := ui.Nearest(c.Arg(0), subcommands(c)); near != "" && !fspath.Exists(c.Arg(0)) {
		return failure.Usagef("suite %s does not exist; did you mean pexctl eval %s?", c.Arg(0), near)
	}
	if c.Bool("watch") {
		return watchSuite(c)
	}
	return evalOnce(c, nil)
}

// evalOnce runs one evaluation; w is the --watch that repeats it, or nil.
func evalOnce(c *call, w *evalWatch) error {
	out, err := outputs.Open(c.Call)
	if err != nil {
		return err
	}
	if err := restoreFlags(c, c.Arg(0)); err != nil {
		return err
	}
	s, err := loadSuite(c, c.Arg(0))
	if err != nil {
		return err
	}
	gctune.LongRunning()
	e := &evaluation{suite: s, c: c, outputs: out, home: project.HomeOf(c.Call, s.Root), watch: w}
	if err := e.prepare(); err != nil {
		return err
	}
	if e.total == 0 {
		return e.emptyShard()
	}
	for _, spec := range e.specs {
		if err := project.CheckTrust(c.Call, spec, e.home); err != nil {
			return err
		}
	}
	if c.dryRun { // it lists the tools of servers
		return e.estimate()
	}
	if err := e.keys(c); err != nil {
		return err
	}
	if err := w.checkBudget(e); err != nil {
		return err
	}
	stop, code, err := e.run()
	w.recordOutcome(e)
	switch {
	case errors.Is(err, batch.ErrOther):
		return failure.Usagef("%w (use --force to continue anyway, or another --id to start over)", err)
	case err != nil:
		ui.Logf(c.Call, "Resume: pexctl eval %s --resume %s%s", fspath.Quote(e.file), e.id, project.HomeArgument(c.Call, e.home))
		return failure.Infra(err)
	}
	err = e.report(stop)
	if exit, ok := errors.AsType[*ui.ExitError](err); ok && exit.Code == ui.ExitInterrupted {
		exit.Code = code
	}
	return err
}

// subcommands returns the names of a command's subcommands.
func subcommands(c *call) (out []string) {
	for _, sub := range c.Command.Subcommands {
		out = append(out, sub.Name)
	}
	return out
}

// prepare determines the trials and the baseline. It reports mistakes in the
// dataset and the baseline before any tokens are spent.
func (e *evaluation) prepare() (err error) {
	if e.filter, err = e.suite.filter(e.c, e.home); err != nil {
		return err
	}
	if err := e.name(); err != nil {
		return err
	}
	if e.resolved, err = e.baseline(e.c, e.c.baseline, e.home); err != nil {
		return err
	}
	if err := e.source.CheckColumns(); err != nil {
		return failure.Usagef("%s:%d: %w", fspath.Shown(e.File), e.Dataset.Position.Line, err)
	}
	if err := e.watch.selectCases(e); err != nil {
		return err
	}
	e.cases = e.filter.Of(e.source.Cases)
	if e.total, err = batch.Survey(e.cases, e.variants); err != nil {
		return e.wrongDataset(err)
	}
	if e.total == 0 && e.filter.Shards <= 1 {
		return failure.Usagef("no cases to run: %s has none%s", e.source.Name, prefixed(" that match ", e.filter.String()))
	}
	return nil
}

// emptyShard returns nil if other shards have cases, because a job in a matrix
// may have nothing to do.
func (e *evaluation) emptyShard() error {
	whole := e.filter
	whole.Shard, whole.Shards = 0, 0
	n, err := batch.Survey(whole.Of(e.source.Cases), nil)
	if err != nil {
		return e.wrongDataset(err)
	}
	if n == 0 {
		return failure.Usagef("no cases to run: %s has none%s", e.source.Name, prefixed(" that match ", whole.String()))
	}
	fmt.Fprintf(e.c.Stderr, "nothing to run: shard %d of %d contains none of the %d cases\n", e.filter.Shard, e.filter.Shards, n)
	return nil
}

// wrongDataset adds the name of the dataset to an error that does not start with
// it.
func (e *evaluation) wrongDataset(err error) error {
	if strings.HasPrefix(err.Error(), e.source.Name) {
		return failure.Usagef("%w", err)
	}
	return failure.Usagef("%s: %w", e.source.Name, err)
}

func prefixed(before, s string) string {
	if s == "" {
		return ""
	}
	return before + s
}

// name determines the evaluation: a new one, or one to resume.
func (e *evaluation) name() error {
	if id := e.c.resume; id != "" {
		if e.c.IsSet("id") {
			return failure.Usagef("--resume and --id cannot be combined")
		}
		dir, err := e.earlier(e.home, id, "resume")
		if err != nil {
			return err
		}
		e.id, e.resumed = filepath.Base(dir), true
		return nil
	}
	e.id = cmp.Or(e.c.id, "e"+runs.NewID(time.Now())[1:])
	if !evalID().MatchString(e.id) {
		return failure.Usagef("invalid value %q for --id; use letters, digits, dots, dashes and underscores, starting with a letter or digit", e.id)
	}
	if fspath.Exists(filepath.Join(project.EvalsDir(e.home), e.id)) {
		return failure.Usagef("evaluation %s already exists; continue it with --resume %[1]s, or use another --id", e.id)
	}
	return nil
}

var evalID = text.Regexp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// earlier returns the folder of an evaluation of this suite; the id last means
// the latest.
func (s *suite) earlier(home, id, flag string) (string, error) {
	if id != "last" {
		dir := filepath.Join(project.EvalsDir(home), id)
		if !evalID().MatchString(id) || !fspath.Exists(dir) {
			return "", failure.WithHintf(failure.Usagef("--%s %s: no such evaluation in %s", flag, id, home), "pexctl eval ls lists evaluations")
		}
		if m, err := batch.ReadManifest(dir); err == nil && m.Suite != s.Name {
			return "", failure.Usagef("--%s %s is an evaluation of suite %s, not %s", flag, id, m.Suite, s.Name)
		}
		return dir, nil
	}
	all, err := evaluations(home)
	if err != nil {
		return "", err
	}
	for _, m := range all {
		scored := m.Labels[batch.ScoredLabel] != "" // it has rows, but no trials to resume
		if m.Suite == s.Name && (!scored || flag != "resume") {
			return filepath.Join(project.EvalsDir(home), m.ID), nil
		}
	}
	return "", failure.Usagef("--%s last: suite %s has no evaluations in %s yet", flag, s.Name, home)
}

// manifest returns the manifest of the evaluation.
func (e *evaluation) manifest() (m report.Manifest, err error) {
	m = report.Manifest{
		V: 1, ID: e.id, Suite: e.Name, Description: e.Description, File: fspath.Shown(e.File), Digest: e.Digest, Grading: e.GradingDigest,
		Dataset: fspath.Shown(e.Dataset.File), Variants: e.infos, Checks: e.checkInfos(), Repeat: e.Repeat, Concurrency: e.concurrency(),
		Trials: e.trials(),
		Filter: e.part(), Flags: e.selectedFlags(e.secrets(e.c.Catalog)), Labels: e.Labels, Prices: e.c.Prices().Used(), Started: time.Now().UTC().Round(time.Millisecond), Version: version.String(),
	}
	m.Quarantine = report.ActiveQuarantine(e.Suite, m.Started)
	if e.Dataset.File != "" {
		if m.DatasetHash, err = dataset.Digest(e.Dataset.File); err != nil {
			return m, err
		}
	}
	m.Commit, m.Dirty = gitfs.GitState(e.c.Context, e.Dir)
	return m, nil
}

// trials returns the number of planned trials.
func (e *evaluation) trials() int { return e.total * len(e.variants) * e.Repeat }

// part describes the selected part of the suite; it returns "" for all of it.
func (e *evaluation) part() string {
	part := e.filter.String()
	if len(e.variants) == len(e.Variants) {
		return part
	}
	names := make([]string, len(e.variants))
	for i := range e.variants {
		names[i] = e.variants[i].Name
	}
	return strings.TrimPrefix(part+", only "+strings.Join(names, " and "), ", ")
}

// concurrency returns the number of concurrent trials.
func (e *evaluation) concurrency() int { return cmp.Or(e.Concurrency, 4) }

// evalGrace is how long calls may continue after an evaluation is stopped. It is
// short because a hanging provider must not block it, and interrupted trials are
// resumed later.
const evalGrace = 2 * time.Second

// run runs the missing trials. code is the exit code for the signal that
// suspended it, if any.
func (e *evaluation) run() (end batch.Stop, code int, err error) {
	m, err := e.manifest()
	if err != nil {
		return end, ui.ExitInterrupted, err
	}
	dir := filepath.Join(project.EvalsDir(e.home), e.id)
	secrets := e.secrets(e.c.Catalog)
	e.c.Trace.Mask(secrets...)
	progress := newEvalProgress(e.c, e.Name)
	defer progress.Close()
	ctx, stop := ui.OnSignal(e.c.Context, func() {
		progress.Note("Suspending after the calls in flight (Ctrl-C again to stop now)")
	})
	defer stop()
	homedir.Create(e.home)
	e.trace(dir, m.Started)
	end, err = batch.Run(ctx, batch.Plan{
		Dir: dir, Manifest: m, Force: e.c.force, Cases: e.cases, Total: e.total, Variants: e.variants, Repeat: e.Repeat,
		Checks: e.checks, Prompts: needsPrompts(e.checks), Concurrency: e.concurrency(), MaxErrors: e.errorLimit(), Limits: e.Limits,
		Grace: evalGrace, Decided: e.stopEarly(), Progress: progress.Send, Mask: mask(secrets), Tracer: e.tracer,
	})
	return end, ui.SignalCode(context.Cause(ctx)), errors.Join(err, e.close())
}

// stopEarly returns a function that reports whether a case needs no further trials
// because its gates are decided. It returns nil if rates are compared: stopping
// cases early would bias them.
func (e *evaluation) stopEarly() func(exprenv.Case) bool {
	if e.resolved != nil || e.Baseline.Ref != "" || e.c.allTrials {
		return nil
	}
	return func(c exprenv.Case) bool { return report.Decided(e.Gates, c, e.Repeat) }
}

// minErrorLimit never stop an evaluation whose suite sets no max_errors, because the
// remaining trials are worth more than they cost.
const minErrorLimit = 20

// errorLimit returns the number of trials that may fail with an error before the
// evaluation stops: by default, as many as its verdict tolerates.
func (e *evaluation) errorLimit() suitespec.MaxErrors {
	m := e.MaxErrors
	if m.Count < 0 && m.Share == 0 {
		m.Share = max(report.ToleratedErrors, minErrorLimit/float64(max(1, e.trials())))
	}
	return m
}

// pattern returns the regular expression in a flag.
func pattern(c *call, flag string) (*regexp.Regexp, error) {
	text := c.String(flag)
	if text == "" {
		return nil, nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, failure.Usagef("--%s: %w", flag, err)
	}
	return re, nil
}
