package report_test

import (
	"encoding/csv"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	formats "github.com/pexctl/pex/builtins/report"
	"github.com/pexctl/pex/engine/exprenv"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

func TestRowOrderDoesNotAffectTheReport(t *testing.T) {
	r, rows := synthetic()
	reversed := slices.Clone(rows)
	slices.Reverse(reversed)
	for _, typ := range []string{"table", "json", "markdown", "junit", "github"} {
		t.Run(typ, func(t *testing.T) {
			want := render(t, typ, formats.Settings{}, r, rows)
			for _, other := range [][]trial.Row{shuffled(rows), reversed} {
				if got := render(t, typ, formats.Settings{}, r, other); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			}
		})
	}
}

func TestJUnitDescribesTheFirstFailedTrial(t *testing.T) {
	r, rows := synthetic()
	rows = append(rows[:0:0], row("a", "", 1, 1, "", trial.Errored), row("a", "", 3, 1, "", trial.Failed), row("a", "", 2, 1, "", trial.Failed))
	rows[1].Marks[0].Message, rows[2].Marks[0].Message = "of the third", "of the second"
	r.Cases = report.CasesOf(caseOf(rows))
	got := render(t, "junit", formats.Settings{}, r, rows)
	if !strings.Contains(got, "trial 2 of 3 failed") || !strings.Contains(got, "of the second") || strings.Contains(strings.ReplaceAll(got, `message="`, ""), "\nof the third") {
		t.Error(got)
	}
}

func TestCasesWithoutTrialsAreSkipped(t *testing.T) {
	r, _ := synthetic()
	r.Cases = report.CasesOf(report.CaseStats{Case: exprenv.Case{ID: "a"}, Skipped: 2})
	got := render(t, "junit", formats.Settings{}, r, nil)
	if !strings.Contains(got, `<skipped message="not run">`) || !strings.Contains(got, `skipped="1"`) {
		t.Error(got)
	}
}

// long returns an evaluation of n cases in n groups, half of which fail.
func long(n int, text string) *report.Report {
	r, _ := synthetic()
	cases := make([]report.CaseStats, n)
	r.Stats.ByGroup, r.Comparison.Changes = map[string]exprenv.GroupStats{}, nil
	r.Comparison.Added, r.Comparison.Removed, r.Warnings, r.FlakyCases = nil, nil, nil, nil
	for i := range cases {
		id := fmt.Sprintf("case-%05d %s", i, text)
		cases[i] = report.CaseStats{Case: exprenv.Case{ID: id, N: 2, Passed: i % 2 * 2, PassRate: float64(i % 2)}, Why: text, Line: i + 1}
		r.Stats.ByGroup[id] = exprenv.GroupStats{N: 1, Trials: 1}
		r.Comparison.Changes = append(r.Comparison.Changes, changeOf(id, i%3))
		r.Comparison.Added, r.Comparison.Removed = append(r.Comparison.Added, id), append(r.Comparison.Removed, id)
		r.Warnings, r.FlakyCases = append(r.Warnings, text), append(r.FlakyCases, id)
		if i < 30 {
			r.Gates = append(r.Gates, report.GateResult{Name: id, Expr: text, Cases: []string{id, id}})
		}
	}
	r.Cases = report.CasesOf(cases...)
	return r
}

// changeOf returns a case that regressed, improved, or changed insignificantly.
func changeOf(id string, kind int) report.CaseChange {
	all, none := report.PassCount{C: 2, N: 2}, report.PassCount{N: 2}
	return []report.CaseChange{
		{Case: id, Before: all, After: none, Kind: report.ChangeRegressed},
		{Case: id, Before: none, After: all, Kind: report.ChangeImproved},
		{Case: id, Before: all, After: report.PassCount{C: 1, N: 2}, P: 1, Kind: report.ChangeOther},
	}[kind]
}

func TestLongReportFitsIntoAComment(t *testing.T) {
	for _, text := range []string{strings.Repeat("`|<@$", 500), strings.Repeat("word ", 500)} {
		r := long(1000, text)
		for _, most := range []int{0, 65536, 20000, 3000} {
			got := render(t, "markdown", formats.Settings{MaxBytes: most}, r, nil)
			if limit := most; limit > 0 && len(got) > limit || len(got) > 1<<20 {
				t.Errorf("%d bytes of %d", len(got), most)
			}
			checkPage(t, got)
			if most == 3000 && !strings.Contains(got, "left out: this page may have 3000 bytes") {
				t.Errorf("it does not say that something is missing:\n%s", got)
			}
		}
		if got := render(t, "github", formats.Settings{}, r, nil); strings.Count(got, "\n") != 10 || !strings.Contains(got, "::and ") {
			t.Errorf("annotations:\n%s", got)
		}
		if got := strings.Count(render(t, "table", formats.Settings{}, r, nil), "\n"); got > 500 {
			t.Errorf("a table of %d lines", got)
		}
	}
}

func TestOmittedAnnotationsAreCounted(t *testing.T) {
	r := long(30, "x")
	r.Gates, r.Comparison = nil, nil
	got := render(t, "github", formats.Settings{}, r, nil)
	if !strings.Contains(got, "and 7 more problems of shop-questions") { // 15 failing cases plus the verdict, minus 9
		t.Error(got)
	}
	r = long(30, "x")
	r.Gates = nil // 20 newly failing and 15 failing cases, 10 of which are both, and the verdict
	if got := render(t, "github", formats.Settings{}, r, nil); !strings.Contains(got, "and 17 more problems") {
		t.Error(got)
	}
	r = long(30, "x")
	r.Gates, r.Comparison, r.Verdict = nil, nil, report.VerdictPassed
	if got := render(t, "github", formats.Settings{}, r, nil); strings.Contains(got, "::error") || strings.Count(got, "::warning") != 10 {
		t.Error(got)
	}
}

// many generates the rows of n cases with 2 trials each.
func many(n int) (*report.Report, trial.Rows) {
	r, _ := synthetic()
	cases := make([]report.CaseStats, n)
	for i := range cases {
		cases[i] = report.CaseStats{Case: exprenv.Case{ID: fmt.Sprint("case-", i), N: 2}, Line: i + 1}
	}
	r.Cases = report.CasesOf(cases...)
	return r, func() iter.Seq2[*trial.Row, error] {
		return func(yield func(*trial.Row, error) bool) {
			for i := range n {
				for j := range 2 {
					x := row(fmt.Sprint("case-", i), "", j+1, i+1, "", trial.Failed)
					if !yield(&x, nil) {
						return
					}
				}
			}
		}
	}
}

func TestLongTextsAreTruncated(t *testing.T) {
	text := strings.Repeat("é", 40_000)
	r, rows := synthetic()
	for i := range rows {
		rows[i].Run.Response = text
		for j := range rows[i].Marks {
			rows[i].Marks[j].Actual = text
		}
	}
	sheet, err := csv.NewReader(strings.NewReader(render(t, "csv", formats.Settings{}, r, rows))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got := utf8.RuneCountInString(sheet[1][20]); got != 32001 {
		t.Errorf("a cell of %d characters", got)
	}
	got := render(t, "junit", formats.Settings{}, r, rows)
	if !strings.Contains(got, "… (cut; 80.") || len(got) > 100_000 {
		t.Errorf("JUnit of %d bytes", len(got))
	}
	checkJUnit(t, got, false)
}

// nowhere is a writer that only counts bytes.
type nowhere struct{ n int64 }

func (w *nowhere) Write(b []byte) (int, error) { w.n += int64(len(b)); return len(b), nil }

func BenchmarkReport5000Cases(b *testing.B) {
	r, rows := many(5000)
	for _, typ := range textFormats {
		b.Run(typ, func(b *testing.B) {
			b.ReportAllocs()
			f, err := formats.New(typ, formats.Settings{})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := f.Write(&nowhere{}, r, rows); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
