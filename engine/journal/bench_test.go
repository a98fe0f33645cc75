package journal_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/journal"
)

var reply = []byte(`{"Tool":"","Args":"","Text":"` + strings.Repeat("the item was added and the total is updated. ", 5) + `"}`)

// thousand is a run of a thousand effects: 2,001 lines.
func thousand() []journal.Record {
	recs := []journal.Record{{Kind: journal.Start, Path: "r", WallTime: 1}}
	for i := range 1000 {
		path := fmt.Sprintf("step.s%d/turn.1/model", i)
		recs = append(
			recs,
			journal.Record{Kind: journal.Intent, Class: journal.Read, Attempt: 1, Path: path, Digest: journal.Digest{1}},
			journal.Record{Kind: journal.Result, At: int64(i), Path: path, Body: reply},
		)
	}
	return recs
}

func BenchmarkAppendLine(b *testing.B) {
	r := journal.Record{Seq: 77, Kind: journal.Result, At: 123456789, Path: "step.s1/turn.1/model", Digest: journal.Digest{1}, Body: reply}
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		line, _, _ = journal.AppendLine(line[:0], &r, journal.Chain{})
	}
	b.SetBytes(int64(len(line)))
}

func BenchmarkDecode(b *testing.B) {
	file := encodeLines(b, thousand(), &journal.Chain{})
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := journal.Decode(file); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCommit is one tick of 1 kB.
func BenchmarkCommit(b *testing.B) {
	for _, d := range []journal.Durability{journal.Sync, journal.Async, journal.Exit} {
		b.Run(string(d), func(b *testing.B) {
			h := home(b, b.TempDir(), d)
			f, err := h.Create("r")
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			body := []byte(`"` + strings.Repeat("x", 900) + `"`)
			seq := uint64(0)
			for b.Loop() {
				seq++
				appended(b, f, journal.Record{Seq: seq, Kind: journal.Result, Path: "step.s1/turn.1/model", Body: body})
			}
		})
	}
}

// BenchmarkWitness is one tick of 1 kB in two files by turns, of which one keeps
// its extent in the lock file: x is what a commit costs with it, by medians.
func BenchmarkWitness(b *testing.B) {
	for _, d := range []journal.Durability{journal.Sync, journal.Async} {
		b.Run(string(d), func(b *testing.B) {
			h := home(b, b.TempDir(), d)
			body := []byte(`"` + strings.Repeat("x", 900) + `"`)
			var files [2]*journal.File
			var took [2][]time.Duration
			for i := range files {
				f, err := h.Create(fmt.Sprint("r", i))
				if err != nil {
					b.Fatal(err)
				}
				defer f.Close()
				files[i] = f
			}
			files[0].WithoutWitness()
			seq := uint64(0)
			for b.Loop() {
				seq++
				for k := range files {
					i := (int(seq) + k) % len(files)
					began := time.Now()
					appended(b, files[i], journal.Record{Seq: seq, Kind: journal.Result, Path: "step.s1/turn.1/model", Body: body})
					took[i] = append(took[i], time.Since(began))
				}
			}
			for i := range took {
				slices.Sort(took[i])
			}
			median := func(i int) float64 { return float64(took[i][len(took[i])/2]) }
			b.ReportMetric(median(1)/median(0), "x")
			b.ReportMetric(median(0), "ns/commit")
		})
	}
}

// BenchmarkSession is a whole run of one record: its folder, lock, journal and head.
func BenchmarkSession(b *testing.B) {
	for _, d := range []journal.Durability{journal.Sync, journal.Async, journal.Exit} {
		b.Run(string(d), func(b *testing.B) {
			h := home(b, b.TempDir(), d)
			n := 0
			for b.Loop() {
				n++
				f, err := h.Create(fmt.Sprint("r", n))
				if err != nil {
					b.Fatal(err)
				}
				appended(b, f, start)
				if err := f.Close(); err != nil {
					b.Fatal(err)
				}
			}
			if err := h.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	h := home(b, b.TempDir(), journal.Exit)
	f, err := h.Create("r")
	if err != nil {
		b.Fatal(err)
	}
	appended(b, f, start)
	f.Close()
	for b.Loop() {
		if f, err = h.Open("r"); err != nil {
			b.Fatal(err)
		}
		_ = f.Close()
	}
}

// BenchmarkSegments is one request of a run of 40 steps.
func BenchmarkSegments(b *testing.B) {
	reqs := conversation(40)
	b.ReportAllocs()
	for b.Loop() {
		encodeAll(b, &journal.Segments{}, reqs)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(reqs)), "ns/request")
}
