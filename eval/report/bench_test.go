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

// many streams one trial each of n cases without retaining them. It calls at after the last.
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
	runtime.GC() // the second call frees pooled memory
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestMemoryPerCase(t *testing.T) {
	if raced {
		t.Skip("the race detector changes memory use")
	}
	const n = 50_000
	m := manifest(1)
	before, most := heap(), uint64(0)
	r, err := report.New(many(n, func() { most = heap() - before }), m, report.Options{Total: n})
	if err != nil {
		t.Fatal(err)
	}
	retained := heap() - before
	t.Logf("%d bytes per case while reading rows, %d cases failed; %d bytes in the report", most/n, r.Stats.Failed, retained/n)
	if most/n > 150 || retained/n > 150 || most > 10<<20 {
		t.Errorf("%d bytes per case, then %d", most/n, retained/n)
	}
	runtime.KeepAlive(r)
}

func BenchmarkNew(b *testing.B) {
	for _, n := range []int{5_000, 50_000} {
		m := manifest(1)
		rows := make([]*trial.Row, 0, n)
		for r := range many(n, func() {})() {
			rows = append(rows, r)
		}
		b.Run(fmt.Sprintf("cases=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				benchmarkNew(b, rows, m, report.Options{Total: n})
			}
		})
		f := report.Baseline(foldRows(b, rows, m, report.Options{}))
		s := suite(b, "stats.pass_rate > 0.5")
		s.Gates = append(s.Gates, gate(b, "case.pass_rate >= 0.8", true))
		b.Run(fmt.Sprintf("cases=%d/baseline and gates", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				benchmarkNew(b, rows, m, report.Options{Suite: s, Total: n, Baseline: f})
			}
		})
		shifted := shift(f)
		b.Run(fmt.Sprintf("cases=%d/changed baseline", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				benchmarkNew(b, rows, m, report.Options{Suite: s, Total: n, Baseline: shifted})
			}
		})
	}
}

// benchmarkNew computes reports from rows in memory, so that only New is measured.
func benchmarkNew(b *testing.B, rows []*trial.Row, m report.Manifest, o report.Options) {
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

// shift changes every tenth case of a baseline.
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
