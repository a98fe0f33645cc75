package testcmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pexctl/pex/cmd/pexctl/internal/outputs"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/eval/golden"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
)

// reportTests prints the results, runs the review, writes the reports, and returns
// the exit code.
func reportTests(ctx context.Context, c *ui.Call, o *testOptions, plan *testPlan, done *testOutcomes) error {
	unused, removed, err := o.unusedGoldens(plan)
	if err != nil {
		return err
	}
	r := newReport(done, unused)
	if r.StaleCassettes = staleOf(plan, done); o.cover {
		r.Coverage = plan.units.coverageReports()
	}
	if o.json {
		if err := ui.PrintJSON(c, r); err != nil {
			return failure.Infra(err)
		}
	} else {
		p := &testPrinter{w: ui.Styled(c.Stdout), o: o, color: ui.UsesColor(c.Stdout), shownChanges: map[string]string{}}
		p.all(plan, done, r, removed)
	}
	if err := o.out.Tests(r); err != nil {
		return err
	}
	failed, err := o.reviewChanges(ctx, c, r, done, unused)
	if err != nil {
		return err
	}
	if !o.json {
		testHints(c, o, done, r)
		movedHint(c, plan, done)
	}
	if failed || o.belowMinimum(r.Coverage) {
		return ui.Exit(ui.ExitNegative, nil)
	}
	return nil
}

// unusedGoldens returns the golden files that no case uses; an update removes them.
func (o *testOptions) unusedGoldens(plan *testPlan) (unused, removed []golden.Change, err error) {
	if !o.unused {
		return nil, nil, nil
	}
	unused, err = plan.unused()
	if err != nil || !o.update {
		return unused, nil, err
	}
	for _, ch := range unused {
		if err := ch.Accept(); err != nil {
			return nil, nil, failure.Infra(err)
		}
	}
	return nil, unused, nil
}

// newReport counts the outcomes.
func newReport(done *testOutcomes, unused []golden.Change) *report.TestReport {
	r := &report.TestReport{V: 1, Cases: []report.TestResult{}, DurationMS: done.duration.Milliseconds()}
	for _, out := range done.outcomes {
		res := out.TestResult
		for i := range res.Problems {
			res.Problems[i].File = outputs.ReportedPath(res.Problems[i].File)
		}
		res.File = outputs.ReportedPath(res.File)
		r.Cases = append(r.Cases, res)
		switch res.Status {
		case report.TestPassed, report.TestUpdated:
			r.Passed++
		case report.TestSkipped:
			r.Skipped++
		case report.TestFailed, report.TestError:
			r.Failed++
		}
	}
	for _, ch := range unused {
		r.Unused = append(r.Unused, outputs.ReportedPath(ch.File))
	}
	return r
}

// reviewChanges asks about each change, and reports whether anything still fails.
func (o *testOptions) reviewChanges(ctx context.Context, c *ui.Call, r *report.TestReport, done *testOutcomes, unused []golden.Change) (failed bool, err error) {
	failed = r.Failed > 0 || len(r.Unused) > 0
	if !o.review {
		return failed, nil
	}
	var changes []golden.Change
	others, asked := 0, map[string]bool{} // a golden file may belong to several cases
	for _, out := range done.outcomes {
		for _, ch := range out.Changes {
			if !asked[ch.File] {
				asked[ch.File] = true
				changes = append(changes, ch)
			}
		}
		others += len(out.Problems) - out.GoldenProblems()
	}
	changes = append(changes, unused...)
	if len(changes) == 0 {
		return failed, nil
	}
	left, err := review(ctx, c, changes)
	return others > 0 || left > 0, err
}

// testHints prints the next commands.
func testHints(c *ui.Call, o *testOptions, done *testOutcomes, r *report.TestReport) {
	var goldens, tapeless bool
	for _, out := range done.outcomes {
		goldens = goldens || len(out.Changes) > 0 && !o.update
		tapeless = tapeless || out.MissingCassette
	}
	w := c.Stderr
	again := strings.TrimSpace("pexctl test " + quotedAll(c.Args))
	if o.record == "" && inCI() {
		again = "on your machine, " + again
	}
	if goldens && !o.review || len(r.Unused) > 0 {
		fmt.Fprintf(w, "If these changes are intended: %s --review (one by one) or --update (all)\n", again)
	}
	if tapeless {
		fmt.Fprintf(w, "To record the missing cassettes: %s --record missing (calls the models of the spec)\n", again)
	}
	if len(r.StaleCassettes) > 0 && !o.quiet {
		were := "were"
		if len(r.StaleCassettes) == 1 {
			were = "was"
		}
		fmt.Fprintf(w, "%s %s recorded with different prompts. To list the differences: %s --stale; to record again: --record all\n", ui.Count(len(r.StaleCassettes), "cassette"), were, again)
	}
	for _, rep := range r.Coverage {
		if rep.Share < o.minCoverage {
			fmt.Fprintf(w, "%s: coverage is %s, below --cover-min %s\n", rep.Spec, percent(rep.Share), percent(o.minCoverage))
		}
	}
}

func quotedAll(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = fspath.Quote(w)
	}
	return strings.Join(out, " ")
}

func milli(d float64) string {
	return time.Duration(d * float64(time.Millisecond)).Round(time.Millisecond).String()
}
