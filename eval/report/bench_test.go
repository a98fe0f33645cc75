package report_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/pexctl/pex/eval/baseline"
	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// many streams one trial each of n cases, none of which is kept by the stream.
// at is called after the last.
func many(n int, at func()) trial.Rows {
	return func() iter.Seq2[*trial.Row, error] {
		return func(yield func(*trial.Row, error) bool) {
			r := rand.New(rand.NewPCG(1, 1))
			for i := range n {
				o := row(fmt.Sprintf("case-%06d", i), "", 1, r.Float64() < 0.9)
				o.Line, o.Run.Cost, o.Run.LatencyMS = i+1, r.Float64(), 1000*r.Float64()
				if !yield(o, nil) {
					return
				}
			}
			at()
		}
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // what a pool held goes with the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestCasesAreKeptSmall(t *testing.T) {
	if raced {
		t.Skip("the race detector's memory is not ours")
	}
	const n = 50_000
	m := manifest(1)
	before, most := heap(), uint64(0)
	r, err := report.New(many(n, func() { most = heap() - before }), m, report.Options{Total: n})
	if err != nil {
		t.Fatal(err)
	}
	kept := heap() - before
	t.Logf("a case: %d bytes while rows stream by, %d of them failing; %d in the report", most/n, r.Stats.Failed, kept/n)
	if most/n > 150 || kept/n > 150 || most > 10<<20 {
		t.Errorf("a case takes %d bytes, then %d", most/n, kept/n)
	}
	runtime.KeepAlive(r)
}

func BenchmarkFold(b *testing.B) {
	for _, n := range []int{5_000, 50_000} {
		m := manifest(1)
		rows := make([]*trial.Row, 0, n)
		for r := range many(n, func() {})() {
			rows = append(rows, r)
		}
		b.Run(fmt.Sprintf("cases=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				foldKept(b, rows, m, report.Options{Total: n})
			}
		})
		f := report.Baseline(foldRows(b, rows, m, report.Options{}))
		s := suite(b, "stats.pass_rate > 0.5")
		s.Gates = append(s.Gates, gate(b, "case.pass_rate >= 0.8", true))
		b.Run(fmt.Sprintf("cases=%d/baseline and gates", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				foldKept(b, rows, m, report.Options{Suite: s, Total: n, Baseline: f})
			}
		})
		shifted := shift(f)
		b.Run(fmt.Sprintf("cases=%d/changed baseline", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				foldKept(b, rows, m, report.Options{Suite: s, Total: n, Baseline: shifted})
			}
		})
	}
}

// foldKept folds rows that stay where they are, so that only fold is measured.
func foldKept(b *testing.B, rows []*trial.Row, m report.Manifest, o report.Options) {
	b.Helper()
	_, err := report.New(func() iter.Seq2[*trial.Row, error] {
		return func(yield func(*trial.Row, error) bool) {
			for _, r := range rows {
				if !yield(r, nil) {
					return
				}
			}
		}
	}, m, o)
	if err != nil {
		b.Fatal(err)
	}
}

// shift makes every tenth case of a baseline different, in many trials.
func shift(f *baseline.File) *baseline.File {
	out := *f
	out.Cases = append([]baseline.Case(nil), f.Cases...)
	for i := range out.Cases {
		if i%10 == 0 {
			out.Cases[i].C, out.Cases[i].N = i%7, 7
		}
	}
	return &out
}
