package report_test

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/builtins/report"
	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/eval/fold"
	"github.com/pexctl/pex/eval/trial"
)

// ours are the formats of this folder that are text; html has tests of its own.
var ours = slices.DeleteFunc(report.All().Types(), func(typ string) bool { return typ == "html" })

func build(t *testing.T, typ string, s report.Settings) report.Format {
	t.Helper()
	f, err := report.New(typ, s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// written is a report in a format.
func written(t *testing.T, typ string, s report.Settings, r *fold.Report, rows []trial.Row) string {
	t.Helper()
	var b strings.Builder
	if err := build(t, typ, s).Write(&b, r, rowsOf(rows)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// writtenTests is the results of tests in a format.
func writtenTests(t *testing.T, typ string, s report.Settings, r *fold.TestReport) string {
	t.Helper()
	var b strings.Builder
	if err := build(t, typ, s).(report.Tests).WriteTests(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFormatsOfAnEvaluation(t *testing.T) {
	r, rows := synthetic()
	for _, c := range []struct {
		name, typ, file string
		set             report.Settings
	}{
		{"table", "table", "eval.table.txt", report.Settings{Columns: 100}},
		{"table in color", "table", "eval.color.txt", report.Settings{Columns: 100, Color: true}},
		{"narrow table", "table", "eval.narrow.txt", report.Settings{Columns: 50}},
		{"json", "json", "eval.json", report.Settings{}},
		{"jsonl", "jsonl", "eval.jsonl", report.Settings{}},
		{"csv", "csv", "eval.csv", report.Settings{}},
		{"markdown", "markdown", "eval.md", report.Settings{}},
		{"junit", "junit", "eval.junit.xml", report.Settings{}},
		{"junit with locations", "junit", "eval.junit-locations.xml", report.Settings{Locations: true}},
		{"github", "github", "eval.github.txt", report.Settings{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			goldentest.File(t, c.file, written(t, c.typ, c.set, r, rows))
		})
	}
}

func TestFormatsOfTests(t *testing.T) {
	for _, c := range []struct{ name, typ, file string }{
		{"json", "json", "tests.json"},
		{"markdown", "markdown", "tests.md"},
		{"junit", "junit", "tests.junit.xml"},
		{"github", "github", "tests.github.txt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			goldentest.File(t, c.file, writtenTests(t, c.typ, report.Settings{}, tests()))
		})
	}
}

func TestFormatsOfADiff(t *testing.T) {
	after, _ := synthetic()
	before, _ := synthetic()
	before.Verdict, before.Stats = fold.VerdictPassed, after.Comparison.Baseline
	before.Manifest.ID, before.Manifest.Commit = "e-20260101-000000-ffffff", after.Comparison.Commit
	before.Stats.Tokens.Mean, before.Stats.Cost.Mean = 800, 0.0008
	before.Manifest.Variants[0].Spec.Digest = "sha256:99990000"
	for _, c := range []struct {
		name, typ, file string
		comparison      *fold.Comparison
	}{
		{"table", "table", "diff.table.txt", after.Comparison},
		{"markdown", "markdown", "diff.md", after.Comparison},
		{"json", "json", "diff.json", after.Comparison},
		{"nothing in both", "table", "diff.apart.txt", nil},
		{"nothing in both, as a page", "markdown", "diff.apart.md", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			err := build(t, c.typ, report.Settings{}).(report.Diffs).WriteDiff(&b, &report.Diff{Before: before, After: after, Comparison: c.comparison})
			if err != nil {
				t.Fatal(err)
			}
			goldentest.File(t, c.file, b.String())
		})
	}
}

func TestAnEvaluationThatIsWellSaysLittle(t *testing.T) {
	r := &fold.Report{
		V: 1, Manifest: fold.Manifest{ID: "e-1", Suite: "hello", File: "suite.yaml", Variants: []fold.VariantInfo{{}}, Started: began},
		Verdict: fold.VerdictPassed, Reason: "every case passes", DurationMS: 900,
		Gates: []fold.GateResult{{Name: "stats.failed == 0", Expr: "stats.failed == 0", Pass: true, File: "suite.yaml"}},
	}
	rows := []trial.Row{row("a", "", 1, 0, "", trial.Passed)}
	c := caseOf(rows)
	r.Cases = fold.CasesOf(c)
	r.Stats.N, r.Stats.Trials, r.Stats.Passed, r.Stats.PassRate, r.Stats.CILow, r.Stats.CIHigh = 1, 1, 1, 1, 0.2065, 1
	for _, c := range []struct{ typ, file string }{
		{"table", "well.table.txt"}, {"markdown", "well.md"}, {"junit", "well.junit.xml"}, {"github", "well.github.txt"},
	} {
		t.Run(c.typ, func(t *testing.T) {
			goldentest.File(t, c.file, written(t, c.typ, report.Settings{}, r, rows))
		})
	}
}

func TestReportsWithoutACaseAreWhole(t *testing.T) {
	r := &fold.Report{V: 1, Verdict: fold.VerdictBroken, Reason: "no trial could be run"}
	r.Manifest.Suite = "empty"
	for _, typ := range ours {
		t.Run(typ, func(t *testing.T) { written(t, typ, report.Settings{}, r, nil) })
	}
}

// full is a disk that has room for so many bytes.
type full struct{ left int }

var errFull = errors.New("no space left")

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestWhatCannotBeWrittenIsTold(t *testing.T) {
	r, rows := synthetic()
	for _, typ := range ours {
		t.Run(typ, func(t *testing.T) {
			if err := build(t, typ, report.Settings{}).Write(&full{100}, r, rowsOf(rows)); !errors.Is(err, errFull) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestRowsThatCannotBeReadAreTold(t *testing.T) {
	r, _ := synthetic()
	damaged := errors.New("rows.jsonl:7: damaged")
	rows := func() iter.Seq2[*trial.Row, error] {
		return func(yield func(*trial.Row, error) bool) { yield(nil, damaged) }
	}
	for _, typ := range []string{"jsonl", "csv", "junit"} {
		t.Run(typ, func(t *testing.T) {
			var b strings.Builder
			if err := build(t, typ, report.Settings{}).Write(&b, r, rows); !errors.Is(err, damaged) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestFormatsAreFoundByName(t *testing.T) {
	if _, err := report.New("pdf", report.Settings{}); err == nil || !strings.Contains(err.Error(), "there are table, json") {
		t.Errorf("got %v", err)
	}
}

func TestFilesAreNamedFromTheBase(t *testing.T) {
	r, rows := synthetic()
	r.Manifest.Dataset = "/home/ana/shop/cases.jsonl"
	got := written(t, "github", report.Settings{Base: "/home/ana"}, r, rows)
	if !strings.Contains(got, "file=shop/cases.jsonl,line=2") {
		t.Error(got)
	}
	if got := written(t, "github", report.Settings{Base: "/home/bob"}, r, rows); !strings.Contains(got, "file=/home/ana/shop/cases.jsonl") {
		t.Error(got)
	}
}
