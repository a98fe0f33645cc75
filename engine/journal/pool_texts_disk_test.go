package journal_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/pexctl/pex/engine/disktest"
	"github.com/pexctl/pex/engine/journal"
)

// A disk that fails when a text or the request after it is written ends the pool. What was
// acknowledged is intact.
func TestADiskThatFailsAtAText(t *testing.T) {
	for fail := int64(1); ; fail++ {
		path := filepath.Join(t.TempDir(), "pool.jsonl")
		disk := &faulty{failWrite: fail, part: 30, err: syscall.EIO}
		p, err := journal.OpenPoolThrough(path, journal.PoolOptions{Durability: journal.Async}, func(d journal.Disk) journal.Disk { disk.Disk = unsynced{d}; return disk })
		if err != nil {
			t.Fatal(err)
		}
		acknowledged := map[string]int{}
		for _, run := range []string{"a", "b", "c"} {
			j, err := p.Run(run)
			if err != nil {
				break
			}
			for _, rec := range asking(t, run) {
				if _, err := j.Append([]journal.Record{rec}); err != nil {
					break
				}
				acknowledged[run]++
			}
		}
		failed := p.Err()
		if err := p.Close(); !errors.Is(err, failed) {
			t.Fatal(err)
		}
		for run, n := range acknowledged {
			got, err := journal.ReadPool(path, run)
			if err != nil {
				t.Fatalf("write %d failed: %v", fail, err)
			}
			same(t, got, stored(asking(t, run))[:n])
		}
		if err := journal.CheckPool(path); err != nil {
			t.Fatalf("write %d failed: %v", fail, err)
		}
		if failed == nil {
			break
		}
	}
}

// Power is lost at every sync and after every record. Acknowledged records are intact, and
// no request refers to a text that was lost.
func TestAPoolAfterAPowerLoss(t *testing.T) {
	dir, scratch := t.TempDir(), t.TempDir()
	disk := disktest.Watch(t, dir)
	disktest.Skip(t, scratch)
	type point struct {
		image   disktest.Image
		durable map[string]int
	}
	var mu sync.Mutex // guards points and durable
	var points []point
	durable := map[string]int{}
	note := func() {
		mu.Lock()
		defer mu.Unlock()
		points = append(points, point{disk.Image(), maps.Clone(durable)})
	}
	p, err := journal.OpenPool(filepath.Join(dir, "pool.jsonl"), journal.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	disk.OnSync = func(string) { note() }
	for n, run := range []string{"a", "b", "c"} {
		j := pooledRun(t, p, run)
		for i, rec := range asking(t, run) {
			if rec.Kind == journal.Intent {
				rec.Sync = (n+i)%2 == 0
			}
			put(t, j, rec)
			if rec.Sync || rec.Kind == journal.End {
				mu.Lock()
				durable[run] = i + 1
				mu.Unlock()
			}
			note()
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	note()
	disk.Stop()
	rng := rand.New(rand.NewPCG(1, 2))
	for i, point := range points {
		for try := range 5 {
			choice := disktest.Partly(rng)
			if try == 0 {
				choice = disktest.Durable
			}
			left := filepath.Join(scratch, fmt.Sprint(i, ".", try))
			if err := os.Mkdir(left, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := point.image.Write(left, choice); err != nil {
				t.Fatal(err)
			}
			comesBack(t, filepath.Join(left, "pool.jsonl"), point.durable)
		}
	}
}

// comesBack opens a pool after a power loss and completes its runs.
func comesBack(t *testing.T, path string, durable map[string]int) {
	t.Helper()
	p := openPool(t, path, journal.PoolOptions{Durability: journal.Async, Done: kept})
	for _, run := range []string{"a", "b", "c"} {
		j, want := pooledRun(t, p, run), asking(t, run)
		got := loaded(t, j)
		if len(got) < durable[run] {
			t.Fatalf("run %s: %d records are left of %d acknowledged ones", run, len(got), durable[run])
		}
		same(t, got, stored(want)[:len(got)])
		put(t, j, want[len(got):]...)
		same(t, loaded(t, j), stored(want))
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := journal.CheckPool(path); err != nil {
		t.Fatal(err)
	}
}
