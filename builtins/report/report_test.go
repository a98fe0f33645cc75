package report_test

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	formats "github.com/pexctl/pex/builtins/report"
	"github.com/pexctl/pex/engine/goldentest"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// textFormats are the text formats of this package; html has its own tests.
var textFormats = slices.DeleteFunc(formats.All().Types(), func(typ string) bool { return typ == "html" })

func build(t *testing.T, typ string, s formats.Settings) formats.Format {
	t.Helper()
	f, err := formats.New(typ, s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// render returns a report in a format.
func render(t *testing.T, typ string, s formats.Settings, r *report.Report, rows []trial.Row) string {
	t.Helper()
	var b strings.Builder
	if err := build(t, typ, s).Write(&b, r, rowsOf(rows)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// renderTests returns test results in a format.
func renderTests(t *testing.T, typ string, s formats.Settings, r *report.TestReport) string {
	t.Helper()
	var b strings.Builder
	if err := build(t, typ, s).(formats.Tests).WriteTests(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestFormatsOfAnEvaluation(t *testing.T) {
	r, rows := synthetic()
	for _, c := range []struct {
		name, typ, file string
		set             formats.Settings
	}{
		{"table", "table", "eval.table.txt", formats.Settings{Columns: 100}},
		{"table in color", "table", "eval.color.txt", formats.Settings{Columns: 100, Color: true}},
		{"narrow table", "table", "eval.narrow.txt", formats.Settings{Columns: 50}},
		{"json", "json", "eval.json", formats.Settings{}},
		{"jsonl", "jsonl", "eval.jsonl", formats.Settings{}},
		{"csv", "csv", "eval.csv", formats.Settings{}},
		{"markdown", "markdown", "eval.md", formats.Settings{}},
		{"junit", "junit", "eval.junit.xml", formats.Settings{}},
		{"junit with locations", "junit", "eval.junit-locations.xml", formats.Settings{Locations: true}},
		{"github", "github", "eval.github.txt", formats.Settings{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			goldentest.File(t, c.file, render(t, c.typ, c.set, r, rows))
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
			goldentest.File(t, c.file, renderTests(t, c.typ, formats.Settings{}, tests()))
		})
	}
}

func TestFormatsOfADiff(t *testing.T) {
	after, _ := synthetic()
	before, _ := synthetic()
	before.Verdict, before.Stats = report.VerdictPassed, after.Comparison.Baseline
	before.Manifest.ID, before.Manifest.Commit = "e-20260101-000000-ffffff", after.Comparison.Commit
	before.Stats.Tokens.Mean, before.Stats.Cost.Mean = 800, 0.0008
	before.Manifest.Variants[0].Spec.Digest = "sha256:99990000"
	for _, c := range []struct {
		name, typ, file string
		comparison      *report.Comparison
	}{
		{"table", "table", "diff.table.txt", after.Comparison},
		{"markdown", "markdown", "diff.md", after.Comparison},
		{"json", "json", "diff.json", after.Comparison},
		{"nothing in both", "table", "diff.apart.txt", nil},
		{"nothing in both, as a page", "markdown", "diff.apart.md", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			err := build(t, c.typ, formats.Settings{}).(formats.Diffs).WriteDiff(&b, &formats.Diff{Before: before, After: after, Comparison: c.comparison})
			if err != nil {
				t.Fatal(err)
			}
			goldentest.File(t, c.file, b.String())
		})
	}
}

func TestSuccessfulEvaluationIsShort(t *testing.T) {
	r := &report.Report{
		V: 1, Manifest: report.Manifest{ID: "e-1", Suite: "hello", File: "suite.yaml", Variants: []report.VariantInfo{{}}, Started: startTime},
		Verdict: report.VerdictPassed, Reason: "every case passes", DurationMS: 900,
		Gates: []report.GateResult{{Name: "stats.failed == 0", Expr: "stats.failed == 0", Pass: true, File: "suite.yaml"}},
	}
	rows := []trial.Row{row("a", "", 1, 0, "", trial.Passed)}
	c := caseOf(rows)
	r.Cases = report.CasesOf(c)
	r.Stats.N, r.Stats.Trials, r.Stats.Passed, r.Stats.PassRate, r.Stats.CILow, r.Stats.CIHigh = 1, 1, 1, 1, 0.2065, 1
	for _, c := range []struct{ typ, file string }{
		{"table", "well.table.txt"}, {"markdown", "well.md"}, {"junit", "well.junit.xml"}, {"github", "well.github.txt"},
	} {
		t.Run(c.typ, func(t *testing.T) {
			goldentest.File(t, c.file, render(t, c.typ, formats.Settings{}, r, rows))
		})
	}
}

func TestReportsWithoutCasesAreComplete(t *testing.T) {
	r := &report.Report{V: 1, Verdict: report.VerdictBroken, Reason: "no trial could be run"}
	r.Manifest.Suite = "empty"
	for _, typ := range textFormats {
		t.Run(typ, func(t *testing.T) { render(t, typ, formats.Settings{}, r, nil) })
	}
}

// limitedWriter is a writer that fails after a number of bytes.
type limitedWriter struct{ left int }

var errFull = errors.New("no space left")

func (f *limitedWriter) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestWriteErrorsAreReturned(t *testing.T) {
	r, rows := synthetic()
	for _, typ := range textFormats {
		t.Run(typ, func(t *testing.T) {
			if err := build(t, typ, formats.Settings{}).Write(&limitedWriter{100}, r, rowsOf(rows)); !errors.Is(err, errFull) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestRowErrorsAreReturned(t *testing.T) {
	r, _ := synthetic()
	damaged := errors.New("rows.jsonl:7: damaged")
	rows := func() iter.Seq2[*trial.Row, error] {
		return func(yield func(*trial.Row, error) bool) { yield(nil, damaged) }
	}
	for _, typ := range []string{"jsonl", "csv", "junit"} {
		t.Run(typ, func(t *testing.T) {
			var b strings.Builder
			if err := build(t, typ, formats.Settings{}).Write(&b, r, rows); !errors.Is(err, damaged) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestUnknownFormat(t *testing.T) {
	if _, err := formats.New("pdf", formats.Settings{}); err == nil || !strings.Contains(err.Error(), "the formats are table, json") {
		t.Errorf("got %v", err)
	}
}

func TestFileNamesAreRelativeToTheBase(t *testing.T) {
	r, rows := synthetic()
	r.Manifest.Dataset = "/home/ana/shop/cases.jsonl"
	got := render(t, "github", formats.Settings{Base: "/home/ana"}, r, rows)
	if !strings.Contains(got, "file=shop/cases.jsonl,line=2") {
		t.Error(got)
	}
	if got := render(t, "github", formats.Settings{Base: "/home/bob"}, r, rows); !strings.Contains(got, "file=/home/ana/shop/cases.jsonl") {
		t.Error(got)
	}
}
