package journal_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/pexctl/pex/engine/journal"
)

// Cut at every byte: each run has the records before the cut, and goes on.
func TestAPoolCutAtEveryByteGoesOn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pool.jsonl")
	all := shortly(t, path, 6, "a", "b", "c")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n <= len(b); n++ {
		whole := b[:bytes.LastIndexByte(b[:n], '\n')+1]
		if n < len(b) && b[n] == '\n' {
			whole = b[:n+1] // only the newline is missing
		}
		rewrite(t, path, b[:n])
		p := openPool(t, path, journal.PoolOptions{Durability: journal.Async, Done: kept})
		if p.Dropped() != max(0, n-len(whole)) {
			t.Fatalf("cut at %d: dropped %d", n, p.Dropped())
		}
		for run, recs := range all {
			j := pooledRun(t, p, run)
			seen := bytes.Count(whole, []byte(`{"run":"`+run+`"`))
			same(t, loaded(t, j), recs[:seen])
			if n%7 == 0 && seen < len(recs) {
				put(t, j, recs[seen:]...)
				same(t, loaded(t, j), recs)
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if p, err = journal.OpenPool(path, journal.PoolOptions{}); err != nil {
			t.Fatalf("cut at %d, then gone on with: %v", n, err)
		}
		p.Close()
	}
}

func TestEveryFlipInAPoolIsSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pool.jsonl")
	all := shortly(t, path, 4, "a", "b")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		x := bytes.Clone(b)
		x[i] ^= 1 << (i % 7)
		rewrite(t, path, x)
		p, err := journal.OpenPool(path, journal.PoolOptions{})
		if err == nil {
			p.Close()
		}
		if !errors.Is(err, journal.ErrCorrupt) || !regexp.MustCompile(`pool\.jsonl: .*line \d+ \(byte \d+\)`).MatchString(err.Error()) {
			t.Fatalf("flip at %d of %d (%.60q) was not seen: %v", i, len(b), x[max(0, i-20):], err)
		}
		for run, want := range all { // what stands before the damage is read
			recs, _ := journal.ReadPool(path, run)
			same(t, recs, want[:len(recs)])
		}
	}
}

func TestMissingLinesOfAPoolAreNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pool.jsonl")
	interleaved(t, path, "a", "b")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ls := bytes.SplitAfter(b, []byte("\n"))
	for name, row := range map[string]struct {
		lines []int
		want  string
	}{
		"an inner line": {[]int{0, 1, 3, 4}, "line 4 (byte"},
		"its run":       {[]int{0, 1, 3, 4}, "run a: "},
		"a start":       {[]int{0, 2, 3}, "run b: line 3"},
		"doubled":       {[]int{0, 1, 1}, "run b: line 3"},
	} {
		t.Run(name, func(t *testing.T) {
			var x []byte
			for _, i := range row.lines {
				x = append(x, ls[i]...)
			}
			rewrite(t, path, x)
			if _, err := journal.OpenPool(path, journal.PoolOptions{}); !errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), row.want) {
				t.Fatalf("want %q, got %v", row.want, err)
			}
		})
	}
}

func TestAFailedDiskEndsAPool(t *testing.T) {
	for name, row := range map[string]struct {
		durability journal.Durability
		disk       *faulty
		full       bool
	}{
		"full, half a line":        {journal.Async, &faulty{failWrite: 3, part: 20, err: syscall.ENOSPC}, true},
		"full, sync":               {journal.Sync, &faulty{failWrite: 3, part: 20, err: syscall.ENOSPC}, true},
		"broken":                   {journal.Async, &faulty{failWrite: 3, err: syscall.EIO}, false},
		"sync of its intent fails": {journal.Sync, &faulty{failSync: 1, err: syscall.EIO}, false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "pool.jsonl")
			p, err := journal.OpenPoolThrough(path, journal.PoolOptions{Durability: row.durability}, func(d journal.Disk) journal.Disk { row.disk.Disk = d; return row.disk })
			if err != nil {
				t.Fatal(err)
			}
			put(t, pooledRun(t, p, "a"), recordsOf(t, "a")[:1]...)
			put(t, pooledRun(t, p, "b"), recordsOf(t, "b")[:1]...)
			write := recordsOf(t, "a")[1]
			write.Class = journal.Write
			ticket, err := pooledRun(t, p, "a").Append([]journal.Record{write})
			if err == nil {
				err = ticket.Wait()
			}
			if !errors.Is(err, row.disk.err) || errors.Is(err, journal.ErrFull) != row.full || !strings.Contains(err.Error(), path) {
				t.Fatal(err)
			}
			if _, again := p.Run("b"); again == nil || p.Err() == nil {
				t.Fatal("a failed pool goes on")
			}
			if cerr := p.Close(); !errors.Is(cerr, row.disk.err) {
				t.Fatal(cerr)
			}
			p = openPool(t, path, journal.PoolOptions{})
			defer p.Close()
			if a, b := loaded(t, pooledRun(t, p, "a")), loaded(t, pooledRun(t, p, "b")); len(a) != 1 || len(b) != 1 {
				t.Fatalf("%d and %d records", len(a), len(b))
			}
		})
	}
}
