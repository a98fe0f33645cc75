package runs_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/runs"
)

// BenchmarkListPage lists a page of a home with 10,000 runs, as a server does.
func BenchmarkListPage(b *testing.B) {
	w := &world{t: b, dir: b.TempDir(), node: answers, model: &fakeModel{}}
	s := w.open()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := range 10_000 {
		w.finish(w.start(s, fmt.Sprintf("r-%s-%08x", at.Add(time.Duration(n)*time.Minute).Format("20060102-150405"), n)))
	}
	for name, f := range map[string]runs.Filter{
		"latest":  {Limit: 50},
		"matched": {Limit: 50, Match: func(runs.Summary) bool { return true }},
		"500":     {Limit: 500, Match: func(runs.Summary) bool { return true }},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if list, _, err := s.List(b.Context(), f); err != nil || len(list) != f.Limit {
					b.Fatal(len(list), err)
				}
			}
		})
	}
	b.Run("summaries", func(b *testing.B) {
		w.settle(time.Now().Add(-time.Hour))
		b.ReportAllocs()
		for b.Loop() {
			if all, err := s.Summaries(b.Context()); err != nil || len(all) != 10_000 {
				b.Fatal(len(all), err)
			}
		}
	})
	b.Run("unfinished", func(b *testing.B) {
		w.settle(time.Now().Add(-time.Hour))
		b.ReportAllocs()
		for b.Loop() {
			if ids, err := s.Unfinished(); err != nil || len(ids) > 0 {
				b.Fatal(ids, err)
			}
		}
	})
}
