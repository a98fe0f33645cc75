package report_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

var start = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

// manifest returns the manifest of a suite with two checks and the given variants.
func manifest(repeat int, variants ...string) report.Manifest {
	m := report.Manifest{
		V: 1, ID: "e-20260102-150405-000000", Suite: "shop", File: "suite.yaml", Digest: "sha256:s", Grading: "sha256:g",
		DatasetHash: "sha256:d", Repeat: repeat, Concurrency: 4, Started: start, Version: "v1", Commit: "abc",
		Checks: []report.CheckInfo{{Name: "contains", Type: "contains", Weight: 1, Line: 9}, {Name: "cost", Type: "cost", Line: 10}},
	}
	if len(variants) == 0 {
		variants = []string{""}
	}
	for _, v := range variants {
		m.Variants = append(m.Variants, report.VariantInfo{Name: v, File: "spec.yaml", Priced: true})
	}
	return m
}

// row returns a graded trial.
func row(id, variant string, repeat int, passed bool) *trial.Row {
	r := &trial.Row{
		V: 1, Key: trial.Key{Case: id, Variant: variant, Repeat: repeat}, Outcome: trial.Failed,
		At:  start.Add(time.Duration(repeat) * time.Second),
		Run: trial.Run{Tokens: 100 * repeat, Cost: 0.001 * float64(repeat), LatencyMS: 100.1 * float64(repeat)},
		Marks: []trial.Mark{
			{Check: "contains", Type: "contains", Pass: passed, Weight: 1, Message: "lacks the word of " + id},
			{Check: "cost", Type: "cost", Pass: repeat < 3, Tokens: 7, Cost: 0.0001},
		},
	}
	if passed {
		r.Outcome, r.Score, r.Marks[0].Score, r.Marks[0].Message = trial.Passed, 1, 1, ""
	}
	return r
}

// broken returns a trial that ended in an error.
func broken(id, variant string, repeat int, kind trial.ErrorKind, message string) *trial.Row {
	r := row(id, variant, repeat, false)
	r.Outcome, r.Marks, r.Fault = trial.Errored, nil, &trial.Fault{Kind: kind, Message: message}
	return r
}

func skipped(id, variant string, repeat int) *trial.Row {
	return &trial.Row{V: 1, Key: trial.Key{Case: id, Variant: variant, Repeat: repeat}, Outcome: trial.Skipped, At: start}
}

// tally returns the trials of a case that passed c of n.
func tally(id, variant string, c, n int) (out []*trial.Row) {
	for i := range n {
		out = append(out, row(id, variant, i+1, i < c))
	}
	return out
}

// numbered assigns the cases line numbers in order of appearance.
func numbered(rows []*trial.Row) []*trial.Row {
	lines := map[string]int{}
	for _, r := range rows {
		if lines[r.Case] == 0 {
			lines[r.Case] = len(lines) + 1
		}
		r.Line = lines[r.Case]
	}
	return rows
}

func rowsOf(rows []*trial.Row) trial.Rows {
	return func() iter.Seq2[*trial.Row, error] {
		return func(yield func(*trial.Row, error) bool) {
			for _, r := range rows {
				own := *r // rows are valid only until the next one, as with a reader
				if !yield(&own, nil) {
					return
				}
				own = trial.Row{}
			}
		}
	}
}

func foldRows(t testing.TB, rows []*trial.Row, m report.Manifest, o report.Options) *report.Report {
	t.Helper()
	r, err := report.New(rowsOf(rows), m, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// gate compiles a gate as in a suite file.
func gate(t testing.TB, source string, each bool) suitespec.Gate {
	t.Helper()
	place := "gates"
	if each {
		place = "gates_each"
	}
	env, ok := guard.Place(place, map[string]any{})
	if !ok {
		t.Fatalf("unknown place %s", place)
	}
	compiled, p := guard.Compile(source, env)
	if p != nil {
		t.Fatal(p)
	}
	g := suitespec.Gate{Each: each, Position: testspec.Position{File: "suite.yaml", Line: 20}}
	g.When.Source = source
	g.When.Bind(compiled.Eval)
	return g
}

// suite returns a suite with gates on the whole.
func suite(t testing.TB, gates ...string) *suitespec.Suite {
	t.Helper()
	s := &suitespec.Suite{MaxErrors: suitespec.MaxErrors{Count: -1}, Baseline: suitespec.Baseline{Margin: 0.02}}
	for _, g := range gates {
		s.Gates = append(s.Gates, gate(t, g, false))
	}
	return s
}

// motley returns an evaluation with groups, variants, weights, errors, curtailed and flaky cases.
func motley() []*trial.Row {
	var rows []*trial.Row
	for i := range 12 {
		id := fmt.Sprintf("case-%02d", i)
		for v, variant := range []string{"small", "large"} {
			of := tally(id, variant, (i*(v+2)+3)%6, 5)
			for _, r := range of {
				r.Group = []string{"billing", "orders", "returns", ""}[i%4]
				r.CaseWeight = float64(1 + i%3)
				r.Run.LatencyMS = float64(100 + (i*37+v*11+r.Repeat*53)%400)
				r.Run.Cost = float64((i*7+v*5+r.Repeat)%13) / 1000
			}
			rows = append(rows, of...)
		}
	}
	rows[7] = broken("case-00", "large", 3, trial.ProviderFault, "503\n  overloaded")
	rows[22] = broken("case-02", "small", 3, trial.TimeoutFault, "2m0s were up")
	rows[23] = skipped("case-02", "small", 4)
	rows[24] = skipped("case-02", "small", 5)
	for i, r := range rows {
		r.Group, r.CaseWeight = rows[i/10*10].Group, rows[i/10*10].CaseWeight
	}
	return numbered(rows)
}

func shuffled(rows []*trial.Row, seed uint64) []*trial.Row {
	out := slices.Clone(rows)
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func caseNamed(t testing.TB, r *report.Report, id, variant string) report.CaseStats {
	t.Helper()
	for _, c := range r.Cases.All() {
		if c.ID == id && c.Variant == variant {
			return c
		}
	}
	t.Fatalf("no case %s %s", id, variant)
	return report.CaseStats{}
}
