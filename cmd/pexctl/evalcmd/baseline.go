package evalcmd

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/eval/baseline"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/gitfs"
)

// resolvedBaseline is the baseline of an evaluation.
type resolvedBaseline struct {
	file *baseline.File
	ref  string // as given
}

// baselineFile returns the file to which `eval bless` writes the baseline of a
// suite, and where git:REF reads it.
func (s *suite) baselineFile() string {
	return filepath.Join(s.Dir, testspec.Slug(s.Name)+".baseline.json")
}

// baseline returns the baseline that the flag or else the suite names, or nil if
// there is none.
func (s *suite) baseline(c *call, flag, home string) (*resolvedBaseline, error) {
	ref := cmp.Or(flag, s.Baseline.Ref)
	if ref == "" {
		return nil, nil
	}
	kind, rest, named := strings.Cut(ref, ":")
	switch {
	case named && kind == "git":
		return s.gitBaseline(c, ref, rest)
	case named && kind == "run":
		return s.runBaseline(ref, rest, home)
	}
	path := ref
	if flag == "" && !filepath.IsAbs(path) {
		path = filepath.Join(s.Dir, filepath.FromSlash(path))
	}
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && flag == "" && path == s.baselineFile():
		s.warnNoBaseline(fspath.Shown(path) + " does not exist yet")
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, failure.WithHintf(failure.Usagef("baseline %s does not exist", fspath.Shown(path)), "%s", s.blessHint(flag))
	case err != nil:
		return nil, failure.Usagef("baseline: %w", err)
	}
	return readBaseline(ref, b)
}

// blessHint says how to create a missing baseline, the one of flag or of the suite.
func (s *suite) blessHint(flag string) string {
	if flag != "" {
		return fmt.Sprintf("to create it: pexctl eval %[1]s && pexctl eval bless %[1]s --to %[2]s", fspath.Quote(s.file), fspath.Quote(flag))
	}
	return fmt.Sprintf("to start without a baseline, delete the baseline key; to add one later, run pexctl eval bless %s and set baseline: %s", fspath.Quote(s.file), filepath.Base(s.baselineFile()))
}

// warnNoBaseline reports that the suite's baseline does not exist yet. That is not an
// error for the first evaluation of a suite, or for the pull request that adds
// it. Every report contains the note, so that a lost baseline is noticed even
// with -q.
func (s *suite) warnNoBaseline(why string) {
	s.warnings = append(s.warnings, fmt.Sprintf("no baseline: %s (write it with pexctl eval bless %s)", why, s.file))
}

// gitBaseline reads the file from a commit: REF, or REF:PATH.
func (s *suite) gitBaseline(c *call, ref, rest string) (*resolvedBaseline, error) {
	commit, path, named := strings.Cut(rest, ":")
	file := s.baselineFile()
	if named {
		file = filepath.Join(s.Dir, filepath.FromSlash(path))
	}
	if commit == "" {
		return nil, failure.Usagef("invalid baseline %q; use git:REF or git:REF:PATH, such as git:origin/main", ref)
	}
	b, err := gitfs.GitFile(c.Context, commit, file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		s.warnNoBaseline(fmt.Sprintf("%s has no %s yet", ref, fspath.Shown(file)))
		return nil, nil
	case err != nil:
		return nil, err
	}
	return readBaseline(ref, b)
}

// runBaseline reads an evaluation of this home.
func (s *suite) runBaseline(ref, id, home string) (*resolvedBaseline, error) {
	if id != "last" && (!evalID().MatchString(id) || !fspath.Exists(filepath.Join(project.EvalsDir(home), id))) {
		return nil, failure.WithHintf(failure.Usagef("baseline %s: no such evaluation in %s", ref, home), "pexctl eval ls lists evaluations")
	}
	dir, err := s.earlier(home, id, "baseline run:")
	if err != nil {
		return nil, err
	}
	r, _, err := rebuildReport(dir, report.Options{})
	if err != nil {
		return nil, err
	}
	return &resolvedBaseline{report.Baseline(r), ref}, nil
}

func readBaseline(ref string, b []byte) (*resolvedBaseline, error) {
	f, err := baseline.Read(bytes.NewReader(b))
	if err != nil {
		return nil, failure.Usagef("baseline %s: %w", ref, err)
	}
	return &resolvedBaseline{f, ref}, nil
}

func evalBlessCommand(env *ui.Env) *cli.Command {
	return &cli.Command{
		Name: "bless", Usage: "Save an evaluation as a baseline file, to commit with the suite", ArgsUsage: "SUITE",
		Description: ui.Help("",
			"pexctl eval bless suite.yaml # Save the latest evaluation as NAME.baseline.json",
			"pexctl eval bless suite.yaml --id e-20260102-150405-1a2b3c4d",
			"pexctl eval suite.yaml --baseline git:main # Compare with the committed baseline",
		),
		Flags: append(suiteFlags(),
			&cli.StringFlag{Name: "id", Usage: "`ID`: Id of the evaluation (default: the latest of the suite)"},
			&cli.StringFlag{Name: "to", Usage: "Write to `FILE` (default: NAME.baseline.json beside the suite)"},
			&cli.BoolFlag{Name: "force", Usage: "Save even an evaluation that is unfinished, has errors or ran only some of the cases"},
			ui.OutputFlag(), project.HomeFlag()),
		Action: env.Action(withFlags(evalBless)),
	}
}

// writtenBaseline is the -o json output for a written baseline.
type writtenBaseline struct {
	ID       string  `json:"id"`
	File     string  `json:"file"`
	Cases    int     `json:"cases"`
	PassRate float64 `json:"pass_rate"`
}

func evalBless(c *call) error {
	s, err := suiteArg(c)
	if err != nil {
		return err
	}
	dir, err := s.earlier(project.HomeOf(c.Call, s.Root), cmp.Or(c.id, "last"), "id")
	if err != nil {
		return err
	}
	r, _, err := rebuildReport(dir, report.Options{Suite: s.Suite})
	if err != nil {
		return err
	}
	if why := baselineDefect(r); why != "" && !c.force {
		return failure.Usagef("evaluation %s cannot be a baseline: %s (use --force to save it anyway)", r.Manifest.ID, why)
	}
	to := cmp.Or(c.to, s.baselineFile())
	if dir := filepath.Dir(to); !fspath.Exists(dir) {
		return failure.Usagef("--to %s: folder %s does not exist", to, dir)
	}
	if err := fspath.WriteFile(to, 0o644, func(w io.Writer) error { return baseline.Write(w, report.Baseline(r)) }); err != nil {
		return failure.Usagef("--to: %w", err)
	}
	b := writtenBaseline{r.Manifest.ID, fspath.Shown(to), r.Cases.Len(), r.Stats.PassRate}
	if c.JSON {
		return ui.PrintJSON(c.Call, b)
	}
	ui.Logf(c.Call, "Saved %s: %s of %s, %s passed. Commit it with the suite.", b.File, text.Count(b.Cases, "case"), b.ID, report.Percent(b.PassRate))
	return nil
}

// baselineDefect returns the reason why an evaluation must not become a baseline, or "".
func baselineDefect(r *report.Report) string {
	switch {
	case r.Missing > 0:
		return "trials are missing; run them with pexctl eval --resume"
	case r.Stats.Errors > 0:
		return "some trials ended in errors; repeat them with pexctl eval --resume"
	case r.Manifest.Filter != "":
		return "it ran only part of the suite: " + r.Manifest.Filter
	}
	for _, c := range r.Cases.All() {
		if c.Skipped > 0 {
			return "some cases stopped early once their gates were decided, which biases their pass rates; use pexctl eval --all-trials"
		}
	}
	return ""
}

// rebuildReport makes the report of an evaluation from its files.
func rebuildReport(dir string, o report.Options) (*report.Report, trial.Rows, error) {
	r, rows, err := batch.Report(dir, o)
	if err != nil {
		return nil, nil, failure.Infra(err)
	}
	return r, rows, nil
}
