package journal_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/pexctl/pex/engine/disktest"
	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/journal/commitlog"
)

// sharing returns a home on a simulated disk, whose sessions share syncs.
func sharing(t *testing.T) (*journal.Home, *disktest.Disk, string) {
	t.Helper()
	dir := t.TempDir()
	h := home(t, dir, journal.Sync)
	h.ShareSyncs(0)
	disk := disktest.Watch(t, dir)
	t.Cleanup(func() { _ = h.Close() })
	return h, disk, dir
}

// lost returns the home after a power loss that took everything that was not synced, except
// what is in kept files.
func lost(t *testing.T, disk *disktest.Disk, kept ...string) *journal.Home {
	t.Helper()
	dir := t.TempDir()
	err := disk.Image().Write(dir, func(f disktest.File) []byte {
		if slices.Contains(kept, filepath.Base(f.Path)) {
			return disktest.Written(f)
		}
		return disktest.Durable(f)
	})
	if err != nil {
		t.Fatal(err)
	}
	return home(t, dir, journal.Sync)
}

// count returns how many records a run has, -1 if it does not exist.
func count(t *testing.T, h *journal.Home, run string) int {
	t.Helper()
	recs, err := h.Read(run)
	if errors.Is(err, fs.ErrNotExist) {
		return -1
	}
	if err != nil {
		t.Errorf("run %s: %v", run, err)
	}
	return len(recs)
}

// session appends a start record, and n durable ones, to a new or existing run.
func session(t *testing.T, h *journal.Home, run string, n int) {
	t.Helper()
	f, err := h.Create(run)
	first := 1
	if exists := (*journal.ExistsError)(nil); errors.As(err, &exists) {
		if f, err = h.Open(run); err == nil {
			recs, _ := f.Load()
			first = len(recs) + 1
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for seq := first; seq < first+n; seq++ {
		rec := journal.Record{Seq: uint64(seq), Kind: journal.Marker}
		if seq == 1 {
			rec = start
		}
		appended(t, f, rec)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestRunsOfACommitLogSurvive(t *testing.T) {
	h, disk, _ := sharing(t)
	synced := 0
	disk.OnSync = func(path string) {
		if strings.HasSuffix(path, ".jsonl") {
			synced++
		}
	}
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() { session(t, h, fmt.Sprint("r", i), 5) })
	}
	wg.Wait()
	after := lost(t, disk)
	for i := range 20 {
		if n := count(t, after, fmt.Sprint("r", i)); n != 5 {
			t.Errorf("run r%d has %d records", i, n)
		}
	}
	if ids, err := after.List(); err != nil || len(ids) != 20 {
		t.Error(ids, err)
	}
	if synced > 0 {
		t.Errorf("journals were synced %d times", synced)
	}
	if err := h.Close(); err != nil || synced == 0 {
		t.Errorf("%v, %d journals were synced", err, synced)
	}
	if n := count(t, lost(t, disk), "r1"); n != 5 {
		t.Errorf("after closing, run r1 has %d records", n)
	}
}

// Another process uses the runs of a server: what it does is not undone by the log.
func TestACommitLogBesideAnotherProcess(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(t *testing.T, other *journal.Home)
		want int
	}{
		"nothing":  {func(*testing.T, *journal.Home) {}, 3},
		"continue": {func(t *testing.T, other *journal.Home) { session(t, other, "r", 2) }, 5},
		"remove": {func(t *testing.T, other *journal.Home) {
			if err := other.Remove("r"); err != nil {
				t.Fatal(err)
			}
		}, -1},
		"remove and create": {func(t *testing.T, other *journal.Home) {
			if err := other.Remove("r"); err != nil {
				t.Fatal(err)
			}
			session(t, other, "r", 1)
		}, 1},
		"repair": {func(t *testing.T, other *journal.Home) {
			b, err := os.ReadFile(other.File("r"))
			if err != nil {
				t.Fatal(err)
			}
			b[place(b, 2)+9] ^= 1
			if err := os.WriteFile(other.File("r"), b, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := other.Repair("r"); err != nil {
				t.Fatal(err)
			}
		}, 2},
		"restore": {func(t *testing.T, other *journal.Home) {
			s, err := other.Snapshot("r")
			if err != nil {
				t.Fatal(err)
			}
			s.Journal, s.Head = s.Journal[:place(s.Journal, 1)], nil
			if err := errors.Join(other.Remove("r"), other.Adopt(s)); err != nil {
				t.Fatal(err)
			}
		}, 1},
		"sweep": {func(t *testing.T, other *journal.Home) {
			if err := other.Remove("r"); err != nil {
				t.Fatal(err)
			}
			if _, err := other.Sweep(false); err != nil {
				t.Fatal(err)
			}
		}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			var kept []string
			if name == "repair" || name == "restore" { // renamed to its place: disktest does not see that this is durable
				kept = append(kept, "r.jsonl")
			}
			h, disk, dir := sharing(t)
			session(t, h, "before", 1)
			session(t, h, "r", 3)
			other := home(t, dir, journal.Sync)
			c.do(t, other)
			if err := other.Close(); err != nil {
				t.Fatal(err)
			}
			if got := count(t, lost(t, disk, kept...), "r"); got != c.want {
				t.Errorf("%d records after a power loss, want %d", got, c.want)
			}
			session(t, h, "r", 1) // in the log again
			if got := count(t, lost(t, disk, kept...), "r"); got != max(c.want, 0)+1 {
				t.Errorf("%d records after another session, want %d", got, max(c.want, 0)+1)
			}
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			if got := count(t, lost(t, disk, kept...), "r"); got != max(c.want, 0)+1 {
				t.Errorf("%d records after closing, want %d", got, max(c.want, 0)+1)
			}
		})
	}
}

// A server that removes many runs compacts the index when no session uses its log.
func TestAnIndexBesideACommitLogIsCompacted(t *testing.T) {
	h, _, dir := sharing(t)
	session(t, h, "kept", 2)
	busy, err := h.Create("busy")
	if err != nil {
		t.Fatal(err)
	}
	f, err := h.Create("large")
	if err != nil {
		t.Fatal(err)
	}
	appended(t, f, start)
	f.SetHead([]byte(`"` + strings.Repeat("x", 2<<20) + `"`))
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	size := func() int64 {
		info, err := os.Stat(filepath.Join(dir, "runs", "_index"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if err := h.Remove("large"); err != nil || size() < 2<<20 {
		t.Errorf("%v; %d bytes while a session uses the log", err, size())
	}
	if err := busy.Close(); err != nil {
		t.Fatal(err)
	}
	session(t, h, "other", 1)
	if err := h.Remove("other"); err != nil || size() > 1<<10 {
		t.Errorf("%v; %d bytes", err, size())
	}
	session(t, h, "kept", 1)
	if n := count(t, h, "kept"); n != 3 {
		t.Errorf("%d records", n)
	}
}

// A full disk ends a run with the error, and a later session continues from the records
// before.
func TestAFullDiskBesideACommitLog(t *testing.T) {
	h, disk, _ := sharing(t)
	d := &faulty{failWrite: 3, part: 20, err: syscall.ENOSPC}
	f := create(t, h, d)
	appended(t, f, start)
	appended(t, f, journal.Record{Seq: 2, Kind: journal.Marker})
	if _, err := f.Append([]journal.Record{{Seq: 3, Kind: journal.Marker}}); !errors.Is(err, journal.ErrFull) {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	h.Through(nil)
	if n := count(t, lost(t, disk), "r"); n != 2 {
		t.Errorf("%d records", n)
	}
	session(t, h, "r", 2)
	if n := count(t, lost(t, disk), "r"); n != 4 {
		t.Errorf("%d records after another session", n)
	}
}

// brokenLog is a commit log whose syncs fail.
type brokenLog struct {
	commitlog.Disk
	broken *atomic.Bool
}

func (d brokenLog) Sync() error {
	if d.broken.Load() {
		return syscall.EIO
	}
	return d.Disk.Sync()
}

// A log that fails ends the sessions that use it. Their runs keep what was acknowledged, and
// continue with another log.
func TestAFailedCommitLog(t *testing.T) {
	h, disk, _ := sharing(t)
	var broken atomic.Bool
	h.ThroughLog(func(d commitlog.Disk) commitlog.Disk { return brokenLog{d, &broken} })
	session(t, h, "r", 2)
	f, err := h.Open("r")
	if err != nil {
		t.Fatal(err)
	}
	other, err := h.Create("other")
	if err != nil {
		t.Fatal(err)
	}
	broken.Store(true)
	ticket, err := f.Append([]journal.Record{{Seq: 3, Kind: journal.Marker}})
	if err != nil {
		t.Fatal(err)
	}
	if err := ticket.Wait(); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	for _, f := range []*journal.File{f, other} {
		if _, err := f.Append([]journal.Record{{Seq: 4, Kind: journal.Marker}}); !errors.Is(err, syscall.EIO) {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	broken.Store(false)
	if n := count(t, h, "r"); n != 2 {
		t.Errorf("%d records", n)
	}
	if n := count(t, lost(t, disk), "r"); n != 2 {
		t.Errorf("%d records after a power loss", n)
	}
	session(t, h, "r", 2)
	if n := count(t, lost(t, disk), "r"); n != 4 {
		t.Errorf("%d records after another session and a power loss", n)
	}
}

// Two servers have a log each.
func TestTwoCommitLogs(t *testing.T) {
	h, disk, dir := sharing(t)
	other := home(t, dir, journal.Sync)
	other.ShareSyncs(0)
	session(t, h, "a", 2)
	session(t, other, "b", 2)
	session(t, other, "a", 2)
	session(t, h, "b", 2)
	if after := lost(t, disk); count(t, after, "a") != 4 || count(t, after, "b") != 4 {
		t.Errorf("%d and %d records", count(t, after, "a"), count(t, after, "b"))
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if after := lost(t, disk); count(t, after, "a") != 4 || count(t, after, "b") != 4 {
		t.Errorf("after one was closed, %d and %d records", count(t, after, "a"), count(t, after, "b"))
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
}

// A run that a power loss left with holes where nothing was durable is not damaged.
func TestHolesAreNoDamage(t *testing.T) {
	h, disk, _ := sharing(t)
	session(t, h, "r", 3)
	dir := t.TempDir()
	err := disk.Image().Write(dir, func(f disktest.File) []byte {
		switch filepath.Base(f.Path) {
		case "r.jsonl":
			return append(make([]byte, len(f.Written)), "\x00\x00{\"v\":1"...)
		case "_index":
			return nil
		}
		return disktest.Durable(f)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "runs", "new.jsonl"), make([]byte, 99), 0o600); err != nil {
		t.Fatal(err)
	}
	after := home(t, dir, journal.Sync)
	if n := count(t, after, "r"); n != 3 {
		t.Errorf("%d records", n)
	}
	if n := count(t, after, "new"); n != -1 {
		t.Errorf("%d records of a run that has none", n)
	}
	if err := after.CheckAll(func(f journal.Finding) bool { t.Errorf("%+v", f); return true }); err != nil {
		t.Error(err)
	}
}
