package kernel_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

type benchReply struct{ Tool, Args, Text string }

var (
	benchNames = func() []string {
		names := make([]string, 1000)
		for i := range names {
			names[i] = fmt.Sprintf("step.s%d/turn.1/model", i)
		}
		return names
	}()
	benchValue = &benchReply{"add", `{"a":1,"b":1}`, strings.Repeat("the item was added and the total is updated. ", 5)}
)

// effects is a run of n effects one after another.
func effectList(n int) func(*kernel.Scope) error {
	return func(s *kernel.Scope) error {
		for _, name := range benchNames[:n] {
			if _, err := kernel.Do(s, kernel.Effect[*benchReply]{
				Name: name, Class: journal.Read, Digest: journal.Digest{1},
				Perform: func(context.Context, string) (*benchReply, error) { return benchValue, nil },
			}); err != nil {
				return err
			}
		}
		return nil
	}
}

func perEffect(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/effect")
}

// BenchmarkEffect is an effect in memory, in runs of a thousand and of twenty.
func BenchmarkEffect(b *testing.B) {
	for _, n := range []int{1000, 20} {
		b.Run(fmt.Sprint("of", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := run(&journal.Memory{}, effectList(n)); err != nil {
					b.Fatal(err)
				}
			}
			perEffect(b, n)
		})
	}
}

// BenchmarkParallelEffects is a thousand effects side by side.
func BenchmarkParallelEffects(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := run(&journal.Memory{}, func(s *kernel.Scope) error {
			return s.Parallel(1000, func(i int) string { return benchNames[i] }, func(_ int, s *kernel.Scope) error {
				_, err := kernel.Do(s, kernel.Effect[int]{Name: "e", Class: journal.Read, Perform: func(context.Context, string) (int, error) { return 1, nil }})
				return err
			})
		}); err != nil {
			b.Fatal(err)
		}
	}
	perEffect(b, 1000)
}

// BenchmarkRuns is a thousand runs of twenty effects at once, new each time.
func BenchmarkRuns(b *testing.B) {
	b.Run("memory", func(b *testing.B) {
		manyRuns(b, func(string) (journal.Journal, func()) { return &journal.Memory{}, func() {} })
	})
	for _, d := range []journal.Durability{journal.Sync, journal.Async, journal.Exit} {
		b.Run(string(d), func(b *testing.B) {
			h, err := journal.OpenHome(b.TempDir(), d)
			if err != nil {
				b.Fatal(err)
			}
			manyRuns(b, func(id string) (journal.Journal, func()) {
				f, err := h.Create(id)
				if err != nil {
					b.Fatal(err)
				}
				return f, func() { f.Close() }
			})
			if err := h.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func manyRuns(b *testing.B, open func(id string) (journal.Journal, func())) {
	const runs = 1000
	batch := 0
	for b.Loop() {
		batch++
		var wg sync.WaitGroup
		for i := range runs {
			wg.Go(func() {
				id := fmt.Sprintf("r%d.%d", batch, i)
				j, end := open(id)
				defer end()
				if _, err := runWith(context.Background(), kernel.Options{RunID: id, Journal: j}, effectList(20)); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
	}
	b.ReportMetric(float64(runs*b.N)/b.Elapsed().Seconds(), "runs/s")
}

// BenchmarkOpenAndRerun opens and re-runs a journal of a thousand effects.
func BenchmarkOpenAndRerun(b *testing.B) {
	h, err := journal.OpenHome(b.TempDir(), journal.Exit)
	if err != nil {
		b.Fatal(err)
	}
	f, err := h.Create("r")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := run(f, effectList(1000)); err != nil {
		b.Fatal(err)
	}
	f.Close()
	b.ReportAllocs()
	for b.Loop() {
		f, err := h.Open("r")
		if err != nil {
			b.Fatal(err)
		}
		st, err := run(f, effectList(1000))
		if err != nil || st.Replayed != 1000 || st.Performed != 0 {
			b.Fatal(err, st)
		}
		f.Close()
	}
}
