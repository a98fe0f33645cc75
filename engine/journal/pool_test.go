package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/pexctl/pex/engine/journal"
)

func openPool(t testing.TB, path string, o journal.PoolOptions) *journal.Pool {
	t.Helper()
	p, err := journal.OpenPoolThrough(path, o, func(d journal.Disk) journal.Disk { return unsynced{d} })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rewrite puts other bytes into a file. A file that is cut to nothing and
// written again is synced by some file systems, which takes its time.
func rewrite(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func kept(string) bool { return false }

// pooled is a run's journal in a pool.
func pooledRun(t testing.TB, p *journal.Pool, run string) journal.Journal {
	t.Helper()
	j, err := p.Run(run)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func put(t testing.TB, j journal.Journal, recs ...journal.Record) {
	t.Helper()
	ticket, err := j.Append(recs)
	if err == nil {
		err = ticket.Wait()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func loaded(t testing.TB, j journal.Journal) []journal.Record {
	t.Helper()
	recs, err := j.Load()
	if err != nil {
		t.Fatal(err)
	}
	return recs
}

// recordsOf is the sample as the records of a run.
func recordsOf(t testing.TB, run string) []journal.Record {
	_, recs := sample(t)
	recs[0].Path = run
	return recs
}

// interleaved makes a pool of runs that take turns, one record each; the first
// has one record fewer with each run behind it.
func interleaved(t testing.TB, path string, runs ...string) map[string][]journal.Record {
	t.Helper()
	return shortly(t, path, len(recordsOf(t, "")), runs...)
}

// shortly is interleaved with no more than n records of each run.
func shortly(t testing.TB, path string, n int, runs ...string) map[string][]journal.Record {
	t.Helper()
	p := openPool(t, path, journal.PoolOptions{Durability: journal.Async})
	all := map[string][]journal.Record{}
	for less, run := range runs {
		all[run] = recordsOf(t, run)[:n-less]
	}
	for i := range n {
		for _, run := range runs {
			if i < len(all[run]) {
				put(t, pooledRun(t, p, run), all[run][i])
			}
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}

// A line of a pool is the line of the run's own journal, and the run.
func TestRunsOfAPoolAreThoseOfTheirOwnJournals(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pool.jsonl")
	all := interleaved(t, path, "a", "b~x~1", "c.2")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for run, recs := range all {
		var own, want []byte
		for _, line := range bytes.SplitAfter(b, []byte("\n")) {
			if rest, ok := bytes.CutPrefix(line, []byte(`{"run":"`+run+`",`)); ok {
				own = append(append(own, '{'), rest...)
			}
		}
		var c journal.Chain
		want = encodeLines(t, recs, &c)
		if !bytes.Equal(own, want) {
			t.Fatalf("run %s:\n%s\nits own journal:\n%s", run, own, want)
		}
		got, err := journal.ReadPool(path, run)
		if err != nil {
			t.Fatal(err)
		}
		same(t, got, recs)
	}
	if _, err := journal.ReadPool(path, "d"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

func TestAPoolIsGoneOnWith(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pool.jsonl")
	all := interleaved(t, path, "ended", "open", "begun")
	p := openPool(t, path, journal.PoolOptions{Durability: journal.Async})
	defer p.Close()
	if n := len(loaded(t, pooledRun(t, p, "ended"))); n != 0 {
		t.Fatalf("an ended run has %d records", n)
	}
	for _, run := range []string{"open", "begun"} {
		j := pooledRun(t, p, run)
		same(t, loaded(t, j), all[run])
		more := journal.Record{Seq: uint64(len(all[run]) + 1), Kind: journal.End}
		put(t, j, more)
		same(t, loaded(t, j), append(all[run], more))
	}
	again := recordsOf(t, "ended")[:2]
	put(t, pooledRun(t, p, "ended"), again...)
	recs, err := p.Read("ended")
	if err != nil {
		t.Fatal(err)
	}
	same(t, recs, again)
}

func TestAPoolKeepsEndedRunsThatAreWanted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pool.jsonl")
	all := interleaved(t, path, "a")
	p := openPool(t, path, journal.PoolOptions{Done: kept})
	same(t, loaded(t, pooledRun(t, p, "a")), all["a"])
	p.Forget("a")
	if n := len(loaded(t, pooledRun(t, p, "a"))); n != 0 {
		t.Fatalf("a forgotten run has %d records", n)
	}
	p.Close()
}

func TestAPoolIsHeldByOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pool.jsonl")
	p := openPool(t, path, journal.PoolOptions{})
	_, err := journal.OpenPool(path, journal.PoolOptions{})
	var held *journal.InUseError
	if !errors.As(err, &held) || held.PID != os.Getpid() || err.Error() != fmt.Sprintf("%s is held by pid %d", path, os.Getpid()) {
		t.Fatal(err)
	}
	p.Close()
	openPool(t, path, journal.PoolOptions{}).Close()
}

func TestAPoolTakesNoIDThatIsNone(t *testing.T) {
	p := openPool(t, filepath.Join(t.TempDir(), "pool.jsonl"), journal.PoolOptions{})
	defer p.Close()
	for _, id := range []string{"", `a"b`, "a b", "ä", strings.Repeat("x", 201)} {
		if _, err := p.Run(id); err == nil {
			t.Errorf("%q is a run", id)
		}
	}
	if _, err := journal.OpenPool(filepath.Join(t.TempDir(), "p"), journal.PoolOptions{Durability: journal.Exit}); err == nil {
		t.Error("a pool that is synced at its end")
	}
}

func TestAPoolSyncsWhatMustNotBeLost(t *testing.T) {
	intent := func(c journal.Class) journal.Record {
		return journal.Record{Seq: 2, Kind: journal.Intent, Class: c, Attempt: 1, Path: "x"}
	}
	for name, row := range map[string]struct {
		rec  journal.Record
		want int64
	}{
		"read":       {intent(journal.Read), 0},
		"idempotent": {intent(journal.Idempotent), 0},
		"timer":      {intent(journal.Timer), 0},
		"write":      {intent(journal.Write), 1},
		"question":   {intent(journal.Question), 1},
		"end":        {journal.Record{Seq: 2, Kind: journal.End}, 1},
	} {
		path := filepath.Join(t.TempDir(), name)
		synctest.Test(t, func(t *testing.T) { // no time passes, so nothing is synced in the background
			disk := &faulty{}
			p, err := journal.OpenPoolThrough(path, journal.PoolOptions{}, func(d journal.Disk) journal.Disk { disk.Disk = d; return disk })
			if err != nil {
				t.Fatal(err)
			}
			j := pooledRun(t, p, "a")
			put(t, j, recordsOf(t, "a")[0])
			put(t, j, row.rec)
			if n := disk.syncs.Load(); n != row.want {
				t.Errorf("%s: %d syncs, want %d", name, n, row.want)
			}
			if err := p.Close(); err != nil || disk.syncs.Load() != 1 {
				t.Fatal(name, err, disk.syncs.Load(), "syncs after closing, want 1")
			}
		})
	}
}

func TestManyRunsOfAPoolAtOnce(t *testing.T) {
	for _, d := range []journal.Durability{journal.Sync, journal.Async} {
		path := filepath.Join(t.TempDir(), "pool.jsonl")
		p := openPool(t, path, journal.PoolOptions{Durability: d})
		var all sync.WaitGroup
		for i := range 64 {
			all.Go(func() {
				run := fmt.Sprint("r", i)
				recs, j := recordsOf(t, run), pooledRun(t, p, run)
				for _, tick := range slices.Collect(slices.Chunk(recs, 1+i%3)) {
					put(t, j, tick...)
				}
				if i%2 == 0 {
					p.Forget(run)
				}
			})
		}
		all.Wait()
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		for i := range 64 {
			run := fmt.Sprint("r", i)
			recs, err := journal.ReadPool(path, run)
			if err != nil {
				t.Fatal(err)
			}
			same(t, recs, recordsOf(t, run))
		}
	}
}

// BenchmarkPool is a run of eight ticks, as many at once as there are CPUs.
func BenchmarkPool(b *testing.B) {
	p, err := journal.OpenPool(filepath.Join(b.TempDir(), "p"), journal.PoolOptions{Durability: journal.Async})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetParallelism(32)
	var n sync.Mutex
	next := 0
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			n.Lock()
			next++
			run := fmt.Sprint("r", next)
			n.Unlock()
			j := pooledRun(b, p, run)
			for seq := range uint64(8) {
				put(b, j, journal.Record{Seq: seq + 1, Kind: journal.Result, Path: "step.s1/turn.1/model", Body: reply})
			}
			p.Forget(run)
		}
	})
	if err := p.Close(); err != nil {
		b.Fatal(err)
	}
}
