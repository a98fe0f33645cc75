package report_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/eval/baseline"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// compared compares two evaluations with one trial per case. Each letter is a case that passed before and after (=),
// fell (-), rose (+), or failed both times (0).
func compared(t testing.TB, letters string, edit func(*baseline.File, *report.Options)) *report.Report {
	t.Helper()
	var was, is []*trial.Row
	for i, l := range letters {
		id := fmt.Sprintf("c%03d", i)
		was = append(was, row(id, "", 1, l == '=' || l == '-'))
		is = append(is, row(id, "", 1, l == '=' || l == '+'))
	}
	f := report.Baseline(foldRows(t, was, manifest(1), report.Options{}))
	o := report.Options{Suite: suite(t, "stats.n > 0"), Baseline: f}
	o.Suite.Baseline.Ref = "git:main"
	if edit != nil {
		edit(f, &o)
	}
	return foldRows(t, numbered(is), manifest(1), o)
}

func cases(same, fell, rose, failed int) string {
	return strings.Repeat("=", same) + strings.Repeat("-", fell) + strings.Repeat("+", rose) + strings.Repeat("0", failed)
}

func TestVerdictsAgainstABaseline(t *testing.T) {
	for _, c := range []struct {
		name    string
		letters string
		edit    func(*baseline.File, *report.Options)
		verdict report.Verdict
		exit    int
		reason  string
	}{
		{"many cases, no change", cases(300, 0, 0, 20), nil, report.VerdictPassed, 0, "non-inferior to git:main: the pass rate changed by 0.0 points"},
		{"many cases, a few each way", cases(900, 6, 6, 20), nil, report.VerdictPassed, 0, "non-inferior"},
		{"a clear drop", cases(80, 15, 1, 4), nil, report.VerdictRegressed, 1, "worse than in git:main: -14.0 points"},
		{"few cases, no change", cases(20, 0, 0, 2), nil, report.VerdictInconclusive, 4, "cases are needed"},
		{"five of a hundred fell: McNemar is not sure", cases(95, 5, 0, 0), nil, report.VerdictInconclusive, 4, "too few cases"},
		{
			"inconclusive may pass", cases(20, 0, 0, 2), func(_ *baseline.File, o *report.Options) { o.Suite.Baseline.Inconclusive = "pass" },
			report.VerdictPassed, 0, "counted as passed (inconclusive: pass)",
		},
		{
			"inconclusive may fail", cases(20, 0, 0, 2), func(_ *baseline.File, o *report.Options) { o.Suite.Baseline.Inconclusive = "fail" },
			report.VerdictFailed, 1, "counted as failed (inconclusive: fail)",
		},
		{
			"a sure drop within the margin is no harm", cases(950, 30, 5, 15), func(_ *baseline.File, o *report.Options) { o.Suite.Baseline.Margin = 0.05 },
			report.VerdictPassed, 0, "non-inferior to git:main: the pass rate changed by -2.5 points",
		},
		{
			"other checks do not compare", cases(80, 15, 0, 5), func(f *baseline.File, _ *report.Options) { f.Grading = "sha256:other" },
			report.VerdictInconclusive, 4, "the checks differ from those of git:main",
		},
		{
			"lost coverage", cases(300, 0, 0, 0), func(f *baseline.File, _ *report.Options) {
				f.Cases = append(f.Cases, baseline.Case{Case: "gone", C: 0, N: 1})
			},
			report.VerdictFailed, 1, "lost coverage: 1 case of the baseline is missing (gone)",
		},
		{
			"what is in quarantine is not compared", cases(300, 15, 0, 0), func(_ *baseline.File, o *report.Options) {
				o.Suite.Quarantine = []suitespec.Quarantine{{Case: "c30*"}, {Case: "c31*"}}
			},
			report.VerdictPassed, 0, "the pass rate of 300 cases is 100.0% (95% interval 98.7% to 100.0%); non-inferior to git:main: the pass rate changed by 0.0 points",
		},
		{
			"nothing in common", cases(3, 0, 0, 0), func(f *baseline.File, _ *report.Options) { f.Cases = nil },
			report.VerdictInconclusive, 4, "no case can be compared with git:main",
		},
		{
			"asked for by name", cases(80, 15, 1, 4), func(_ *baseline.File, o *report.Options) { o.Ref = "run:e-1" },
			report.VerdictRegressed, 1, "worse than in run:e-1",
		},
		{
			"no suite, no name", cases(80, 15, 1, 4), func(_ *baseline.File, o *report.Options) { o.Suite = nil },
			report.VerdictFailed, 1, "19 of 100 graded trials failed",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := compared(t, c.letters, c.edit)
			if r.Verdict != c.verdict || r.ExitCode != c.exit || !strings.Contains(r.Reason, c.reason) {
				t.Errorf("%s, exit %d: %s", r.Verdict, r.ExitCode, r.Reason)
			}
		})
	}
}

func TestFilteredEvaluationLosesNoCoverage(t *testing.T) {
	f := report.Baseline(foldRows(t, append(tally("a", "", 1, 1), tally("b", "", 1, 1)...), manifest(1), report.Options{}))
	m := manifest(1)
	m.Filter = "cases that match a"
	r := foldRows(t, tally("a", "", 1, 1), m, report.Options{Baseline: f})
	if r.Verdict != report.VerdictInconclusive || len(r.Comparison.Removed) != 0 {
		t.Errorf("%s: %s, lost %q", r.Verdict, r.Reason, r.Comparison.Removed)
	}
	if r := foldRows(t, tally("a", "", 1, 1), manifest(1), report.Options{Baseline: f, Total: 2}); len(r.Comparison.Removed) != 0 {
		t.Errorf("cases not run yet count as removed: %q", r.Comparison.Removed)
	}
}

func TestChoiceOfSignificanceTest(t *testing.T) {
	twice := func(rows []*trial.Row) []*trial.Row {
		for _, r := range rows {
			r.CaseWeight = 1 + float64(len(r.Case)%2)
		}
		return rows
	}
	single := func() []*trial.Row { return append(tally("a", "", 1, 1), tally("bb", "", 0, 1)...) }
	grouped := single()
	for _, r := range grouped {
		r.Group = "g"
	}
	for _, c := range []struct {
		name string
		rows []*trial.Row
		want string
	}{
		{"one trial each", single(), "exact McNemar"},
		{"several trials", tally("a", "", 1, 2), "sign-flip permutation"},
		{"weights", twice(single()), "sign-flip permutation"},
		{"a group", grouped, "sign-flip permutation"},
		{"variants", append(tally("a", "x", 1, 1), tally("a", "y", 1, 1)...), "sign-flip permutation"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := manifest(2)
			f := report.Baseline(foldRows(t, c.rows, m, report.Options{}))
			if got := foldRows(t, c.rows, m, report.Options{Baseline: f}).Comparison.Test; got != c.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestChangesOfCases(t *testing.T) {
	var was, is []*trial.Row
	for i, c := range []struct{ before, after int }{{20, 0}, {0, 20}, {20, 17}, {12, 9}, {9, 12}, {20, 20}} {
		id := string(rune('a' + i))
		was = append(was, tally(id, "", c.before, 20)...)
		is = append(is, tally(id, "", c.after, 20)...)
	}
	was = append(was, tally("gone", "", 1, 1)...)
	is = append(is, tally("new", "", 1, 1)...)
	is = append(is, broken("late", "", 1, trial.ToolFault, "x"))
	was = append(was, tally("late", "", 1, 1)...)
	f := report.Baseline(foldRows(t, was, manifest(20), report.Options{}))
	r := foldRows(t, numbered(is), manifest(20), report.Options{Baseline: f})
	var got []string
	for _, c := range r.Comparison.Changes {
		got = append(got, fmt.Sprintf("%s %s %d/%d %d/%d", c.Case, c.Kind, c.Before.C, c.Before.N, c.After.C, c.After.N))
	}
	want := []string{
		"a regressed 20/20 0/20", "c flaky 20/20 17/20", "d changed 12/20 9/20", "e changed 9/20 12/20", "b improved 0/20 20/20",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	c := r.Comparison
	if diff := cmp.Diff([][]string{{"new"}, {"gone"}}, [][]string{c.Added, c.Removed}); diff != "" || c.Paired != 6 {
		t.Errorf("%s, %d paired", diff, c.Paired)
	}
	if !strings.Contains(strings.Join(r.Warnings, "\n"), "1 case has no graded trial and cannot be compared") {
		t.Errorf("warnings: %q", r.Warnings)
	}
}

// rounds is the number of simulated evaluations.
const rounds = 150

// simulate counts the verdicts of evaluations whose cases have individual pass probabilities, lowered by drop.
func simulate(t *testing.T, n, repeat int, drop, margin float64) map[string]int {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(n), uint64(repeat)))
	got := map[string]int{}
	for range rounds {
		var was, is []*trial.Row
		for i := range n {
			id := fmt.Sprint(i)
			p := 0.6 + 0.4*r.Float64() // mean 0.8
			for k := range repeat {
				was = append(was, row(id, "", k+1, r.Float64() < p))
				is = append(is, row(id, "", k+1, r.Float64() < p*(1-drop/0.8)))
			}
		}
		f := report.Baseline(foldRows(t, was, manifest(repeat), report.Options{}))
		s := &suitespec.Suite{Baseline: suitespec.Baseline{Margin: margin}}
		got[foldRows(t, is, manifest(repeat), report.Options{Suite: s, Baseline: f}).Comparison.Verdict]++
	}
	return got
}

// A 95 % interval below zero, or above the margin, is wrong in one of forty evaluations: 4 of 150. Three standard
// errors more are 10.
func TestVerdictErrorRates(t *testing.T) {
	if raced {
		t.Skip("computation in a single goroutine")
	}
	for _, c := range []struct {
		name         string
		n, repeat    int
		drop, margin float64
		wrong        string
	}{
		{"no change is called a regression", 40, 1, 0, 0.02, report.Regressed},
		{"no change in repeated cases is called a regression", 30, 3, 0, 0.02, report.Regressed},
		{"a drop as large as the margin is called no harm", 60, 1, 0.1, 0.1, report.NonInferior},
		{"a drop in repeated cases is called no harm", 30, 3, 0.1, 0.1, report.NonInferior},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := simulate(t, c.n, c.repeat, c.drop, c.margin); got[c.wrong] > 10 {
				t.Errorf("wrong %d times in %d", got[c.wrong], rounds)
			}
		})
	}
	t.Run("a clear drop is found", func(t *testing.T) {
		t.Parallel()
		if got := simulate(t, 80, 3, 0.2, 0.02); got[report.Regressed] < rounds*8/10 {
			t.Errorf("%d times in %d", got[report.Regressed], rounds)
		}
	})
}

func TestGainOfOneVariantDoesNotHideLossOfAnother(t *testing.T) {
	rows := func(small, large int) (out []*trial.Row) { // passed of 100 trials each
		for i := range 100 {
			id := fmt.Sprintf("c%03d", i)
			out = append(out, row(id, "small", 1, i < small), row(id, "large", 1, i >= 100-large))
		}
		return numbered(out)
	}
	m := manifest(1, "small", "large")
	before := report.Baseline(foldRows(t, rows(80, 60), m, report.Options{}))
	for _, c := range []struct {
		name         string
		small, large int
		margin       float64
		verdict      string
		reason       string
	}{
		{"one fell as far as the other rose", 60, 80, 0.02, report.Regressed, "the pass rate of variant small changed by -20.0 points compared with git:main"},
		{"both fell", 60, 40, 0.02, report.Regressed, "the pass rate is worse than in git:main: -20.0 points"},
		{"both rose", 90, 70, 0.02, report.NonInferior, "non-inferior"},
		{"one fell within the margin", 60, 80, 0.5, report.NonInferior, "non-inferior"},
		{"one fell a little", 78, 80, 0.02, report.NonInferior, "non-inferior"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := report.Options{Suite: suite(t, "stats.n > 0"), Baseline: before, Ref: "git:main"}
			o.Suite.Baseline.Margin = c.margin
			r := foldRows(t, rows(c.small, c.large), m, o)
			if r.Comparison.Verdict != c.verdict || !strings.Contains(r.Reason, c.reason) || len(r.Comparison.ByVariant) != 2 {
				t.Errorf("%s: %s", r.Comparison.Verdict, r.Reason)
			}
		})
	}
}
