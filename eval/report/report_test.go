package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/eval/baseline"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/stat"
	"github.com/pexctl/pex/eval/trial"
)

// whole returns a report with its cases as JSON.
func whole(t testing.TB, r *report.Report) string {
	t.Helper()
	data, err := json.MarshalIndent(struct {
		Report *report.Report
		Cases  []report.CaseStats
	}{r, r.Cases.Slice(0, r.Cases.Len())}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + "\n"
}

// before returns a baseline for motley: the same cases with slightly better results, one removed case and without
// one new case.
func before(t testing.TB) *baseline.File {
	t.Helper()
	f := report.Baseline(foldRows(t, motley(), manifest(5, "small", "large"), report.Options{}))
	f.Commit = "before"
	for i := range f.Cases {
		if i%3 == 0 {
			f.Cases[i].C = f.Cases[i].N
		}
	}
	f.Cases = append(slices.Delete(f.Cases, 4, 5), baseline.Case{Case: "gone", Variant: "small", C: 1, N: 5})
	return f
}

func TestReportOfEverything(t *testing.T) {
	s := suite(t, "stats.pass_rate >= 0.9", "stats.cost.p95 < 0.05 and stats.by_variant.small.errors < 2", "stats.pass_rate >= baseline.pass_rate - 0.02")
	s.Gates = append(s.Gates, gate(t, "case.pass_rate >= 0.2 or case.flaky", true))
	s.MaxErrors.Share = 0.1
	s.Baseline.Ref = "git:main"
	r := foldRows(t, motley(), manifest(5, "small", "large"), report.Options{Suite: s, Baseline: before(t)})
	goldentest.File(t, "everything.json", whole(t, r))
}

func TestOrderOfRowsDoesNotMatter(t *testing.T) {
	rows := motley()
	o := report.Options{Suite: suite(t, "stats.pass_rate >= 0.3"), Baseline: before(t)}
	want := whole(t, foldRows(t, rows, manifest(5, "small", "large"), o))
	for seed := range uint64(50) {
		if diff := cmp.Diff(want, whole(t, foldRows(t, shuffled(rows, seed), manifest(5, "small", "large"), o))); diff != "" {
			t.Fatalf("seed %d: %s", seed, diff)
		}
	}
}

func TestLastRowOfKeyCounts(t *testing.T) {
	rows := motley()
	want := whole(t, foldRows(t, rows, manifest(5, "small", "large"), report.Options{}))
	// Earlier rows of the same keys: errors that were retried, duplicates, other outcomes, sometimes several.
	var more []*trial.Row
	for i, r := range rows {
		switch i % 5 {
		case 0:
			more = append(more, broken(r.Case, r.Variant, r.Repeat, trial.StorageFault, "disk full"))
		case 1:
			more = append(more, r)
		case 2:
			more = append(more, row(r.Case, r.Variant, r.Repeat, true), row(r.Case, r.Variant, r.Repeat, false))
		}
	}
	got := whole(t, foldRows(t, append(more, rows...), manifest(5, "small", "large"), report.Options{}))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestManyRepeatsAreDistinguished(t *testing.T) {
	rows := tally("a", "", 90, 200)
	rows = append(rows, rows...)
	r := foldRows(t, rows, manifest(200), report.Options{})
	if c := r.Cases.At(0); c.N != 200 || c.Passed != 90 || r.Missing != 0 {
		t.Errorf("%d of %d, %d missing", c.Passed, c.N, r.Missing)
	}
}

func TestInvalidRows(t *testing.T) {
	torn := errors.New("rows.jsonl:3: damaged")
	heavy := row("a", "", 1, true)
	heavy.CaseWeight = -1
	strange := row("a", "", 1, true)
	strange.Outcome = "maybe"
	for _, c := range []struct {
		name string
		rows trial.Rows
		want string
	}{
		{"an error of the reader", func() iter.Seq2[*trial.Row, error] {
			return func(yield func(*trial.Row, error) bool) { yield(nil, torn) }
		}, "rows.jsonl:3: damaged"},
		{"a weight below 0", rowsOf([]*trial.Row{heavy}), `case "a": weight -1 must be positive`},
		{"an unknown outcome", rowsOf([]*trial.Row{strange}), `unknown outcome "maybe"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := report.New(c.rows, manifest(1), report.Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestRatesExcludeErrors(t *testing.T) {
	rows := slices.Concat(tally("a", "", 4, 4), tally("b", "", 1, 4), tally("c", "", 0, 2))
	rows = append(rows, broken("c", "", 3, trial.ProviderFault, "gone"), skipped("c", "", 4), broken("d", "", 1, trial.ToolFault, "gone"))
	for _, r := range rows {
		if r.Case == "a" {
			r.CaseWeight = 2
		}
	}
	r := foldRows(t, numbered(rows), manifest(4), report.Options{Total: 14})
	s := r.Stats
	if s.N != 3 || s.Trials != 12 || s.Passed != 5 || s.Failed != 5 || s.Errors != 2 || s.Flaky != 1 || r.Missing != 1 {
		t.Errorf("got %+v, missing %d", s, r.Missing)
	}
	for _, f := range []struct {
		name      string
		got, want float64
	}{
		{"pass rate", s.PassRate, (2*1 + 0.25 + 0) / 4},
		{"pass@2", s.PassAt["2"], (2*1 + 0.5 + 0) / 4},
		{"pass^2", s.PassAll["2"], 2.0 / 4},
		{"pass@4 is of those that ran four times", s.PassAt["4"], 1},
		{"mean tokens are of graded trials", s.Tokens.Mean, (1000 + 1000 + 300) / 10.0},
		{"p50", s.Tokens.P50, 200},
		{"p95", s.Tokens.P95, 400},
		{"latency in seconds", s.Latency.P95, 0.4004},
		{"all tokens", s.Tokens.Total, 2300 + 300 + 100},
		{"a check", s.ByCheck["cost"].PassRate, (2*0.5 + 0.5 + 1) / 4},
	} {
		if math.Abs(f.got-f.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", f.name, f.got, f.want)
		}
	}
	c := caseNamed(t, r, "c", "")
	if c.PassRate != 0 || c.N != 2 || c.Skipped != 1 || c.Errors != 1 || c.Check != "contains" || c.Why != "lacks the word of c" {
		t.Errorf("case c: %+v", c)
	}
	if d := caseNamed(t, r, "d", ""); d.N != 0 || d.CIHigh != 1 || d.Why != "tool: gone" {
		t.Errorf("case d: %+v", d)
	}
	if len(r.Warnings) != 3 {
		t.Errorf("warnings: %q", r.Warnings)
	}
}

func TestIntervals(t *testing.T) {
	one := func(n, passed int) (rows []*trial.Row) {
		for i := range n {
			rows = append(rows, row(string(rune('a'+i%26))+string(rune('a'+i/26)), "", 1, i < passed))
		}
		return rows
	}
	grouped := one(40, 30)
	for i, r := range grouped {
		r.Group = string(rune('a' + i/10))
	}
	for _, c := range []struct {
		name      string
		rows      []*trial.Row
		low, high float64
	}{
		{"one trial a case is Wilson's", one(40, 30), stat.Wilson(30, 40).Low, stat.Wilson(30, 40).High},
		{"all of twenty pass", one(20, 20), 0.8389, 1},
		{"nothing", nil, 0, 1},
		{"groups of ten, one of which fails", grouped, 0.14, 0.98},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := foldRows(t, c.rows, manifest(1), report.Options{}).Stats
			if math.Abs(s.CILow-c.low) > 0.01 || math.Abs(s.CIHigh-c.high) > 0.01 {
				t.Errorf("got [%.4f, %.4f]", s.CILow, s.CIHigh)
			}
		})
	}
}

func TestVariantsOfCaseAreOneCluster(t *testing.T) {
	var both, apart []*trial.Row
	for i := range 60 {
		id := string(rune('a'+i%26)) + string(rune('a'+i/26))
		for _, v := range []string{"x", "y"} {
			both = append(both, row(id, v, 1, i%3 > 0))
			apart = append(apart, row(id+v, v, 1, i%3 > 0))
		}
	}
	b := foldRows(t, both, manifest(1, "x", "y"), report.Options{}).Stats
	a := foldRows(t, apart, manifest(1, "x", "y"), report.Options{}).Stats
	if b.N != 60 || a.N != 120 || b.CIHigh-b.CILow < 1.3*(a.CIHigh-a.CILow) {
		t.Errorf("together [%g, %g] of %d, apart [%g, %g] of %d", b.CILow, b.CIHigh, b.N, a.CILow, a.CIHigh, a.N)
	}
	if v := b.ByVariant["x"]; v.N != 60 || v.Trials != 60 || v.Passed != 40 {
		t.Errorf("variant: %+v", v)
	}
}

func TestErrorsByKind(t *testing.T) {
	r := foldRows(t, shuffled(numbered([]*trial.Row{
		broken("b", "", 1, trial.ProviderFault, "second"), broken("a", "", 2, trial.ProviderFault, "fourth"),
		broken("c", "", 1, trial.ToolFault, "x\x1b[31m\xff"), row("d", "", 1, true),
	}), 3), manifest(1), report.Options{})
	want := []report.ErrorCount{{Kind: trial.ProviderFault, Count: 2, Example: "second"}, {Kind: trial.ToolFault, Count: 1, Example: "x\x1b[31m\uFFFD"}}
	if diff := cmp.Diff(want, r.Errors); diff != "" {
		t.Error(diff)
	}
}

func TestCasesAreListedOnce(t *testing.T) {
	r := foldRows(t, motley(), manifest(5, "small", "large"), report.Options{})
	var ids []string
	for i, c := range r.Cases.All() {
		if got := r.Cases.At(i); got != c {
			t.Errorf("case %d: %+v and %+v", i, got, c)
		}
		ids = append(ids, c.ID+" "+c.Variant)
	}
	if len(ids) != 24 || !slices.IsSorted(ids[:0]) || ids[0] != "case-00 small" || ids[1] != "case-00 large" || ids[23] != "case-11 large" {
		t.Errorf("got %q", ids)
	}
	listed := report.CasesOf(report.CaseStats{Case: exprenv.Case{ID: "x"}})
	if listed.Len() != 1 || listed.At(0).ID != "x" || (report.Cases{}).Len() != 0 {
		t.Error("CasesOf does not return its list")
	}
}

func TestBaselineRoundTrip(t *testing.T) {
	r := foldRows(t, motley(), manifest(5, "small", "large"), report.Options{})
	f := report.Baseline(r)
	var buf bytes.Buffer
	if err := baseline.Write(&buf, f); err != nil {
		t.Fatal(err)
	}
	back, err := baseline.Read(&buf)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(f.Stats, back.Stats); diff != "" {
		t.Error(diff)
	}
	c := foldRows(t, motley(), manifest(5, "small", "large"), report.Options{Baseline: back}).Comparison
	if c.Difference != 0 || c.Paired != 24 || len(c.Changes)+len(c.Added)+len(c.Removed) != 0 || c.P != 1 {
		t.Errorf("compared with itself: %+v", c)
	}
}

func TestPassOfFailedRunIsWarnedAbout(t *testing.T) {
	ended := func(status stop.RunStatus, code stop.Code, passed bool) *trial.Row {
		r := row(string(code), "", 1, passed)
		r.Run.Status, r.Run.StopReason.Code = status, code
		return r
	}
	rows := []*trial.Row{
		ended(stop.RunCompleted, stop.Answered, true),
		ended(stop.RunFailed, stop.Refused, true), // a refusal may be intended
		ended(stop.RunFailed, stop.OutputInvalid, false),
	}
	warnings := func(rows []*trial.Row) (out []string) {
		for _, w := range foldRows(t, numbered(rows), manifest(1), report.Options{}).Warnings {
			if strings.Contains(w, "passed although") {
				out = append(out, w)
			}
		}
		return out
	}
	if got := warnings(rows); got != nil {
		t.Errorf("%q", got)
	}
	rows = append(rows, ended(stop.RunFailed, stop.PlannerInvalid, true), ended(stop.RunFailed, stop.Internal, true))
	want := []string{`2 trials passed although the run failed (internal, planner_invalid): no check requires an answer; add trace.stop_reason == "answered"`}
	if got := warnings(rows); !cmp.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
