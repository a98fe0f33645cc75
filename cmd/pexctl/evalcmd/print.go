package evalcmd

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"

	"golang.org/x/term"

	formats "github.com/pexctl/pex/builtins/report"
	"github.com/pexctl/pex/cmd/pexctl/internal/project"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/eval/batch"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
	"github.com/pexctl/pex/internal/app/fspath"
)

// newEvalProgress shows the progress of an evaluation: redrawn in place on a
// terminal, as plain lines elsewhere, and not at all with -q.
func newEvalProgress(c *call, name string) formats.Progress {
	if c.Quiet {
		return silent{}
	}
	f, ok := ui.Terminal(c.Stderr)
	if !ok || os.Getenv("TERM") == "dumb" || c.Tracing() {
		return formats.NewLines(c.Stderr)
	}
	size := func() (int, int) {
		columns, rows, err := term.GetSize(int(f.Fd()))
		if err != nil || columns <= 0 {
			return 80, 24
		}
		return columns, rows
	}
	return formats.NewLive(f, size, name, os.Getenv("NO_COLOR") == "")
}

// silent shows nothing.
type silent struct{}

func (silent) Send(trial.Progress) {}

func (silent) Note(string) {}

func (silent) Close() {}

// endings maps the reasons for stopping to those in reports.
var endings = map[batch.Why]report.Ending{
	batch.Done: report.EndedDone, batch.Suspended: report.EndedSuspended, batch.Budget: report.EndedBudget, batch.Broken: report.EndedBroken,
}

// report reports the existing rows, and returns the exit code.
func (e *evaluation) report(stop batch.Stop) error {
	o := report.Options{Suite: e.Suite, Total: e.trials(), Ending: endings[stop.Why]}
	if e.resolved != nil {
		o.Baseline, o.Ref = e.resolved.file, e.resolved.ref
	}
	r, rows, err := rebuildReport(filepath.Join(project.EvalsDir(e.home), e.id), o)
	if err != nil {
		return err
	}
	r.Warnings = append(r.Warnings, e.warnings...)
	if e.tracer != nil && stop.Why == batch.Done {
		e.tracer.Ended(trial.Tally{Verdict: string(r.Verdict), Trials: stop.Trials, Passed: stop.Passed, Failed: stop.Failed, Errors: stop.Error})
	}
	failed := e.outputs.Eval(r, rows)
	e.hints(r, stop)
	if r.Stats.Errors > 0 {
		e.hintUnknownOutcomes(rows)
	}
	if failed != nil {
		return failed
	}
	return verdictOf(r)
}

// hintUnknownOutcomes explains what to do about trials that were interrupted during a write,
// which are never repeated when resuming.
func (e *evaluation) hintUnknownOutcomes(rows trial.Rows) {
	var first *trial.Row
	n := 0
	for row, err := range rows() {
		if err == nil && row.Outcome == trial.Errored && row.Run.StopReason.Code == stop.NeedsReview {
			if n++; first == nil {
				first = row
			}
		}
	}
	if n == 0 {
		return
	}
	at := "--case " + fspath.Quote(first.Case)
	if first.Variant != "" {
		at += " --variant " + fspath.Quote(first.Variant)
	}
	if first.Repeat > 1 {
		at += fmt.Sprint(" --trial ", first.Repeat)
	}
	what, here := "A trial was", project.HomeArgument(e.c.Call, e.home)
	if n > 1 {
		what = fmt.Sprint(n, " trials were")
	}
	ui.Logf(e.c.Call, "%s interrupted during a write with an unknown outcome, which --resume never repeats. See the call: pexctl eval show %s %s%s. To run the case again: pexctl eval %s --run %s%s",
		what, e.id, at, here, fspath.Quote(e.file), fspath.Quote("^"+regexp.QuoteMeta(first.Case)+"$"), here)
}

// verdictOf returns the exit code of a report.
func verdictOf(r *report.Report) error {
	if r.ExitCode == ui.ExitOK {
		return nil
	}
	return ui.Exit(r.ExitCode, nil)
}

// hints explains why it stopped early, and what to try next.
func (e *evaluation) hints(r *report.Report, stop batch.Stop) {
	if stop.Message != "" {
		ui.Logf(e.c.Call, "%s", stop.Message)
	}
	here := project.HomeArgument(e.c.Call, e.home)
	switch {
	case r.Missing > 0 || r.Stats.Errors > 0:
		ui.Logf(e.c.Call, "Resume: pexctl eval %s --resume %s%s", fspath.Quote(e.file), e.id, here)
	case e.outputs.JSON:
	case r.Stats.Failed > 0 && len(e.outputs.Files) == 0:
		ui.Logf(e.c.Call, "Details: pexctl eval show %s --html eval.html%s", e.id, here)
	case r.Verdict == report.VerdictInconclusive && r.Comparison.CILow > -1 && !r.Comparison.GradingChange:
		ui.Logf(e.c.Call, "Inconclusive. To accept it: --margin %.2g (non-inferior) or --inconclusive pass; both can be set under baseline in the suite", math.Ceil(-100*r.Comparison.CILow+1e-9)/100)
	case e.resolved == nil && r.ExitCode == ui.ExitOK && baselineDefect(r) == "":
		ui.Logf(e.c.Call, "Save as baseline: pexctl eval bless %s --id %s%s", fspath.Quote(e.file), e.id, here)
	}
}
