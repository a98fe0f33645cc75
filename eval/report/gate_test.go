package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// three returns three cases: one always passes, one sometimes, one never.
func three() []*trial.Row {
	return numbered(slices.Concat(tally("good", "", 5, 5), tally("flaky-1", "", 3, 5), tally("bad", "", 0, 5)))
}

func TestGates(t *testing.T) {
	for _, c := range []struct {
		name   string
		source string
		each   bool
		pass   bool
		got    string
		cases  []string
		err    string
	}{
		{"over all", "stats.pass_rate >= 0.5", false, true, "stats.pass_rate = 0.5333", nil, ""},
		{"over all, not met", "stats.pass_rate > 0.9 and stats.cost.p95 < 0.1", false, false, "stats.pass_rate = 0.5333, stats.cost.p95 = 0.005", nil, ""},
		{"by a name in brackets", `stats.by_check["contains"].pass_rate > 0.9 and stats.pass_at["5"] > 0`, false, false, `stats.by_check["contains"].pass_rate = 0.5333, stats.pass_at["5"] = 0.6667`, nil, ""},
		{"each", "case.pass_rate >= 0.6", true, false, "1 of 3 fail; the worst, bad: case.pass_rate = 0", []string{"bad"}, ""},
		{"each, all meet it", "case.n == 5", true, true, "passes for all 3", nil, ""},
		{"each, beside the whole", "case.pass_rate >= stats.pass_rate or case.flaky", true, false, "1 of 3 fail; the worst, bad: case.pass_rate = 0, stats.pass_rate = 0.5333, case.flaky = false", []string{"bad"}, ""},
		{"no baseline", "stats.pass_rate >= baseline.pass_rate", false, false, "", nil, "there is no baseline"},
		{"the word baseline in a text", `stats.n > 0 and "baseline" != ""`, false, true, "stats.n = 3", nil, ""},
		{"what cannot be evaluated", `[1][stats.n] == 1`, false, false, "", nil, "evaluate"},
		{"a group there is not", `stats.by_group["nix"].errors == 0`, false, false, "", nil, `it has no group "nix", and no other`},
		{"a check there is not", `stats.by_check.contain.pass_rate < 1`, false, false, "", nil, `it has no check "contain": there are contains`},
		{"a variant there is not, for each case", `case.pass_rate >= stats.by_variant?.['nix'].pass_rate`, true, false, "", nil, `it has no variant "nix"`},
		{"a group that is asked for", `not ("nix" in stats.by_group) or stats.by_group["nix"].pass_rate > 1`, false, true, `stats.by_group["nix"].pass_rate = 0`, nil, ""},
		{"a case by its id", `stats.by_case["good"].pass_rate == 1 and stats.by_case.bad.passed > 0`, false, false, `stats.by_case["good"].pass_rate = 1, stats.by_case.bad.passed = 0`, nil, ""},
		{"a case that is asked for", `"good" in stats.by_case and not ("nix" in stats.by_case) and len(stats.by_case) == 3`, false, true, "", nil, ""},
		{"a case there is not", `stats.by_case["nix"].errors == 0`, false, false, "", nil, `it has no case "nix": there are bad, `},
		{"more trials than there are", `stats.pass_all["6"] < 0.5`, false, false, "", nil, `it has no case with 6 graded trials, which pass_all["6"] needs`},
		{"pass@k of no number", `stats.pass_at["k"] < 0.5`, false, false, "", nil, `the key is a number of trials, 1 to 10`},
		{"what cannot be evaluated for a case", `[1][case.n] == 1`, true, false, "", nil, "case good: evaluate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := suite(t)
			s.Gates = []suitespec.Gate{gate(t, c.source, c.each)}
			g := foldRows(t, three(), manifest(5), report.Options{Suite: s}).Gates[0]
			if g.Pass != c.pass || !strings.Contains(g.Error, c.err) || (g.Error == "") != (c.err == "") || g.Line != 20 || g.Expr != c.source {
				t.Errorf("got %+v", g)
			}
			if c.err == "" && (g.Got != c.got || !slices.Equal(g.Cases, c.cases)) {
				t.Errorf("got %q, cases %q", g.Got, g.Cases)
			}
		})
	}
}

func TestCaseInGatesCombinesVariants(t *testing.T) {
	rows := slices.Concat(tally("a", "big", 3, 3), tally("a", "small", 1, 3), tally("b", "big", 0, 1))
	m := manifest(3)
	m.Variants = []report.VariantInfo{{Name: "big", Priced: true}, {Name: "small", Priced: true}}
	s := suite(t, `stats.by_case["a"].n == 6 and stats.by_case["a"].passed == 4 and stats.by_case["a"].flaky`,
		`stats.by_case["a"].variant == "" and stats.by_case["b"].pass_rate == 0 and stats.by_case["b"].n == 1`)
	for _, g := range foldRows(t, rows, m, report.Options{Suite: s}).Gates {
		if !g.Pass {
			t.Errorf("%+v", g)
		}
	}
}

func TestGatesCompareCaseWithBaseline(t *testing.T) {
	for _, c := range []struct {
		name, source string
		pass         bool
		err          string
	}{
		{"as it was", `stats.by_case["good"].pass_rate >= baseline.by_case["good"].pass_rate`, true, ""},
		{"worse", `stats.by_case["good"].pass_rate > baseline.by_case["good"].pass_rate and baseline.by_case["good"].n == 5`, false, ""},
		{"a case it does not have", `baseline.by_case["nix"].pass_rate == 0`, false, `the baseline has no case "nix"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			was := report.Baseline(foldRows(t, three(), manifest(5), report.Options{}))
			o := report.Options{Suite: suite(t, c.source), Baseline: was, Ref: "main.json"}
			if g := foldRows(t, three(), manifest(5), o).Gates[0]; g.Pass != c.pass || !strings.Contains(g.Error, c.err) || (g.Error == "") != (c.err == "") {
				t.Errorf("%+v", g)
			}
		})
	}
}

func TestVerdictsWithoutABaseline(t *testing.T) {
	five := func(kind trial.ErrorKind) []*trial.Row {
		rows := three()
		for _, r := range rows[:2] {
			*r = *broken(r.Case, "", r.Repeat, kind, "x")
		}
		return rows
	}
	allow := func(count int, share float64) *suitespec.Suite {
		s := suite(t, "stats.n > 0")
		s.MaxErrors = suitespec.MaxErrors{Count: count, Share: share}
		return s
	}
	quarantined := func(pattern string, gates ...string) *suitespec.Suite {
		s := suite(t, gates...)
		s.Quarantine = []suitespec.Quarantine{{Case: pattern}}
		return s
	}
	each := func(s *suitespec.Suite) *suitespec.Suite {
		s.Gates = []suitespec.Gate{gate(t, "case.pass_rate == 1", true)}
		return s
	}
	for _, c := range []struct {
		name    string
		rows    []*trial.Row
		o       report.Options
		verdict report.Verdict
		exit    int
		reason  string
	}{
		{"gates hold", three(), report.Options{Suite: suite(t, "stats.pass_rate > 0.5")}, report.VerdictPassed, 0, "1 gate passed; the pass rate of 3 cases is 53.3% (95% interval"},
		{"a gate does not", three(), report.Options{Suite: suite(t, "stats.n > 1", "stats.n > 5")}, report.VerdictFailed, 1, "1 of 2 gates failed: stats.n > 5"},
		{"no gates, all pass", tally("a", "", 5, 5), report.Options{}, report.VerdictPassed, 0, "every trial passed; the pass rate"},
		{"no gates, some fail", three(), report.Options{Suite: suite(t)}, report.VerdictFailed, 1, "7 of 15 graded trials failed (flaky-1, bad), and the suite has no gates that allow failures"},
		{"too many errors", five(trial.ProviderFault), report.Options{Suite: suite(t, "stats.n > 0")}, report.VerdictBroken, 3, "2 of 15 trials ended in an error (provider 2); at most 0 are allowed"},
		{"errors by a number", five(trial.ProviderFault), report.Options{Suite: allow(2, 0)}, report.VerdictPassed, 0, "1 gate passed"},
		{"errors by a number, too many", five(trial.ProviderFault), report.Options{Suite: allow(1, 0)}, report.VerdictBroken, 3, "at most 1 are allowed"},
		{"errors by a share", five(trial.ProviderFault), report.Options{Suite: allow(-1, 0.2)}, report.VerdictPassed, 0, "1 gate passed"},
		{"errors do not let a gate of each case fail", append(five(trial.ProviderFault)[:2], row("fine", "", 1, true)), report.Options{Suite: each(allow(-1, 1)), Total: 3}, report.VerdictPassed, 0, "1 gate passed"},
		{"nothing but errors, however many may be", five(trial.ProviderFault)[:2], report.Options{Suite: each(allow(-1, 1)), Total: 2}, report.VerdictBroken, 3, "2 of 2 trials ended in an error (provider 2)"},
		{"suspended with nothing but errors", five(trial.ProviderFault)[:2], report.Options{Suite: allow(-1, 1), Total: 3}, report.VerdictIncomplete, 130, "2 of 3 trials have run"},
		{"quarantined cases are not counted", three(), report.Options{Suite: quarantined("bad")}, report.VerdictFailed, 1, "2 of 10 graded trials that are not quarantined failed (flaky-1)"},
		{"all cases are quarantined", tally("bad", "", 0, 5), report.Options{Suite: quarantined("b*")}, report.VerdictPassed, 0, "every case that ran is quarantined"},
		{"all cases are quarantined, with a gate on the whole", tally("bad", "", 0, 5), report.Options{Suite: quarantined("b*", "stats.pass_rate >= 0.9")}, report.VerdictPassed, 0, "every case that ran is quarantined"},
		{"all cases are quarantined, and nothing was graded", five(trial.ProviderFault)[:2], report.Options{Suite: quarantined("*"), Total: 2}, report.VerdictBroken, 3, "no trial could be graded"},
		{"a gate on the whole excludes quarantined cases", three(), report.Options{Suite: quarantined("bad", "stats.pass_rate >= 0.8", "stats.failed == 2 and stats.trials == 10")}, report.VerdictPassed, 0, "the pass rate of 2 cases is 80.0% (95% interval"},
		{"errors of quarantined cases do not count", five(trial.ProviderFault), report.Options{Suite: quarantined("good", "stats.errors == 0")}, report.VerdictPassed, 0, "1 gate passed"},
		{"stopped by errors", three(), report.Options{Ending: report.EndedBroken, Total: 100}, report.VerdictBroken, 3, "the evaluation stopped after 15 trials"},
		{"stopped by the budget", three(), report.Options{Ending: report.EndedBudget, Total: 100}, report.VerdictBudget, 4, "after 15 of 100 trials"},
		{"suspended", three(), report.Options{Ending: report.EndedSuspended, Total: 100}, report.VerdictIncomplete, 130, "15 of 100 trials have run; resume"},
		{"killed", three(), report.Options{Total: 16}, report.VerdictIncomplete, 130, "15 of 16"},
		{"nothing ran", nil, report.Options{}, report.VerdictBroken, 3, "no trial has run"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := foldRows(t, c.rows, manifest(5), c.o)
			if r.Verdict != c.verdict || r.ExitCode != c.exit || !strings.Contains(r.Reason, c.reason) {
				t.Errorf("%s, exit %d: %s", r.Verdict, r.ExitCode, r.Reason)
			}
		})
	}
}

func TestQuarantine(t *testing.T) {
	in := func(entries ...suitespec.Quarantine) *suitespec.Suite {
		s := suite(t)
		s.Gates = []suitespec.Gate{gate(t, "case.pass_rate == 1", true)}
		s.Quarantine = entries
		return s
	}
	const today, yesterday = "2026-01-02", "2026-01-01"
	for _, c := range []struct {
		name   string
		suite  *suitespec.Suite
		held   []string
		failed []string // failing cases of the gate
		gates  []string
	}{
		{"none", in(), nil, []string{"flaky-1", "bad"}, nil},
		{"a pattern", in(suitespec.Quarantine{Case: "flaky-*", Until: today}), []string{"flaky-1"}, []string{"bad"}, nil},
		{"all of them", in(suitespec.Quarantine{Case: "*", Until: today}), []string{"good", "flaky-1", "bad"}, nil, nil},
		{"a name", in(suitespec.Quarantine{Case: "bad"}), []string{"bad"}, []string{"flaky-1"}, nil},
		{"inside and at the end", in(suitespec.Quarantine{Case: "f*k*1"}, suitespec.Quarantine{Case: "*ad"}), []string{"flaky-1", "bad"}, nil, nil},
		{"nothing matches", in(suitespec.Quarantine{Case: "b*b*d"}, suitespec.Quarantine{Case: "ba"}, suitespec.Quarantine{Case: "fla*laky-1"}), nil, []string{"flaky-1", "bad"}, nil},
		{"over", in(suitespec.Quarantine{Case: "bad", Until: yesterday, Owner: "ana"}), nil, []string{"flaky-1", "bad"}, []string{"quarantine of bad ended on 2026-01-01"}},
		{"over, but without cases", in(suitespec.Quarantine{Case: "other", Until: yesterday}), nil, []string{"flaky-1", "bad"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := foldRows(t, three(), manifest(5), report.Options{Suite: c.suite})
			var more []string
			for _, g := range r.Gates[1:] {
				more = append(more, g.Name)
			}
			got := [][]string{r.Quarantined, r.Gates[0].Cases, more}
			if diff := cmp.Diff([][]string{c.held, c.failed, c.gates}, got); diff != "" {
				t.Error(diff)
			}
			idle := slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, "matches no case") })
			if idle != strings.Contains(c.name, "match") && !strings.Contains(c.name, "without cases") {
				t.Errorf("warnings %q", r.Warnings)
			}
			apart := 0
			if r.QuarantinedStats != nil {
				apart = r.QuarantinedStats.N
			}
			if apart != len(c.held) || r.Stats.N != 3-apart || (r.Verdict == report.VerdictPassed) != (len(c.failed)+len(c.gates) == 0) {
				t.Errorf("%d cases and %d apart, %s: %s", r.Stats.N, apart, r.Verdict, r.Reason)
			}
		})
	}
}

// TestQuarantinedStatsAreSeparate quarantines a case that passed, failed and errored, under two variants and as the only
// one of its group.
func TestQuarantinedStatsAreSeparate(t *testing.T) {
	rows := append(three(), tally("held", "", 1, 2)...)
	rows = append(rows, broken("held", "", 3, trial.ToolFault, "gone"))
	for _, r := range rows[15:] {
		r.Group = "odd"
	}
	s := suite(t, `stats.by_group["odd"].pass_rate == 1`, `stats.by_case["held"].pass_rate == 1`, `stats.by_group["odd"].pass_rate == 1 and stats.n == 3`)
	s.Quarantine = []suitespec.Quarantine{{Case: "held"}}
	r := foldRows(t, rows, manifest(5), report.Options{Suite: s, Total: 20})
	if diff := cmp.Diff(exprenv.GroupStats{N: 1, Trials: 3, Passed: 1, Errors: 1}, *r.QuarantinedStats, cmpopts.IgnoreFields(exprenv.GroupStats{}, "PassRate", "CILow", "CIHigh")); diff != "" {
		t.Error(diff)
	}
	without := foldRows(t, three(), manifest(5), report.Options{}).Stats
	whole := r.Stats
	if whole.Cost.Total <= without.Cost.Total || whole.Tokens.Total <= without.Tokens.Total || whole.Latency.Total <= without.Latency.Total {
		t.Errorf("usage of quarantined cases is missing in the totals: %+v", whole.Cost)
	}
	whole.Cost.Total, whole.Tokens.Total, whole.Latency.Total = without.Cost.Total, without.Tokens.Total, without.Latency.Total
	if diff := cmp.Diff(without, whole, cmpopts.IgnoreFields(exprenv.Stats{}, "ByGroup", "ByCase")); diff != "" {
		t.Error("quarantined cases change the statistics:", diff)
	}
	if r.Missing != 2 || len(r.Errors) != 0 || slices.Contains(r.FlakyCases, "held") || !r.Gates[0].Pass || r.Gates[0].Got != "no case applies" || r.Gates[1].Got != r.Gates[0].Got {
		t.Errorf("missing %d, errors %v, flaky %v, %+v", r.Missing, r.Errors, r.FlakyCases, r.Gates)
	}
}

func TestDecided(t *testing.T) {
	at := func(passed, n int) exprenv.Case { return exprenv.Case{ID: "a", Passed: passed, N: n} }
	for _, c := range []struct {
		name   string
		gates  []string
		c      exprenv.Case
		repeat int
		want   bool
	}{
		{"no gates", nil, at(5, 5), 10, false},
		{"nothing is known yet", []string{"case.errors <= 10"}, at(0, 0), 10, false},
		{"can still fall below", []string{"case.pass_rate >= 0.8"}, at(7, 7), 10, false},
		{"eight of ten are certain", []string{"case.pass_rate >= 0.8"}, at(8, 8), 10, true},
		{"three have failed", []string{"case.pass_rate >= 0.8"}, at(4, 7), 10, true},
		{"two have failed", []string{"case.pass_rate >= 0.8"}, at(4, 6), 10, false},
		{"one gate is open", []string{"case.pass_rate >= 0.8", "case.pass_rate < 1"}, at(9, 9), 10, false},
		{"both are settled", []string{"case.pass_rate >= 0.8", "case.pass_rate < 1"}, at(8, 9), 10, true},
		{"in between only", []string{"case.passed != 5"}, at(4, 4), 10, false},
		{"an error could come", []string{"case.errors == 0"}, at(4, 4), 5, false},
		{"the lower end of the interval", []string{"case.ci_low > 0.1"}, at(8, 8), 10, true},
		{"the whole", []string{"case.pass_rate >= stats.pass_rate"}, at(8, 8), 10, false},
		{"the score", []string{"case.score >= 0 or case.n > 0"}, at(8, 8), 10, false},
		{"nothing to go", []string{"case.passed != 5"}, at(4, 10), 10, true},
		{"too many to go", []string{"case.n >= 0"}, at(4, 10), 100, false},
		{"what cannot be evaluated", []string{"[true][case.n - case.n + 3]"}, at(4, 10), 11, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var gates []suitespec.Gate
			for _, g := range c.gates {
				gates = append(gates, gate(t, g, true))
			}
			if got := report.Decided(gates, c.c, c.repeat); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
	if report.Decided([]suitespec.Gate{gate(t, "case.n > 0", true), gate(t, "stats.n > 0", false)}, at(1, 1), 2) {
		t.Error("a gate on the whole needs all trials")
	}
}
