package batch_test

import (
	"testing"

	"github.com/pexctl/pex/eval/batch"
)

// BenchmarkTrial measures one trial with two calls and three checks each: engine, journal, checks and row
// together, with 64 in flight.
func BenchmarkTrial(b *testing.B) {
	p := planOf(b.TempDir(), b.N, &oracle{}, capitals, capitals, capitals)
	p.Concurrency = 64
	b.ReportAllocs()
	if stop, err := batch.Run(b.Context(), p); err != nil || stop.Passed != b.N {
		b.Fatal(stop, err)
	}
}

// BenchmarkResume measures opening a finished evaluation of a thousand trials.
func BenchmarkResume(b *testing.B) {
	p := planOf(b.TempDir(), 1000, &oracle{}, capitals)
	if _, err := batch.Run(b.Context(), p); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if stop, err := batch.Run(b.Context(), p); err != nil || stop.Trials != 1000 {
			b.Fatal(stop, err)
		}
	}
}
