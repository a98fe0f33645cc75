package journal_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/pexctl/pex/engine/journal"
)

// faulty is a disk whose writes or syncs fail from a certain one on.
type faulty struct {
	journal.Disk
	writes, syncs atomic.Int64
	failWrite     int64 // 0 = never
	failSync      int64
	part          int // bytes that the failing write gets down
	err           error
}

func (d *faulty) Write(b []byte) (int, error) {
	if n := d.writes.Add(1); d.failWrite > 0 && n >= d.failWrite {
		n, _ := d.Disk.Write(b[:min(d.part, len(b))])
		return n, d.err
	}
	return d.Disk.Write(b)
}

func (d *faulty) Sync() error {
	if n := d.syncs.Add(1); d.failSync > 0 && n >= d.failSync {
		return d.err
	}
	return d.Disk.Sync()
}

func create(t *testing.T, h *journal.Home, d *faulty) *journal.File {
	t.Helper()
	h.Through(func(real journal.Disk) journal.Disk { d.Disk = real; return d })
	f, err := h.Create("r")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestAFailedCommitCutsBackToWhatIsDurable(t *testing.T) {
	for name, row := range map[string]struct {
		durability journal.Durability
		disk       *faulty
		full       bool
	}{
		"full disk, nothing written":  {journal.Sync, &faulty{failWrite: 3, err: syscall.ENOSPC}, true},
		"full disk, half a line":      {journal.Sync, &faulty{failWrite: 3, part: 20, err: syscall.ENOSPC}, true},
		"quota":                       {journal.Sync, &faulty{failWrite: 3, part: 99, err: syscall.EDQUOT}, true},
		"file size limit":             {journal.Sync, &faulty{failWrite: 3, part: 20, err: syscall.EFBIG}, true},
		"broken disk":                 {journal.Sync, &faulty{failWrite: 3, part: 20, err: syscall.EIO}, false},
		"failed sync":                 {journal.Sync, &faulty{failSync: 3, err: syscall.EIO}, false},
		"sync says the disk is full":  {journal.Sync, &faulty{failSync: 3, err: syscall.ENOSPC}, true},
		"async, full, half a line":    {journal.Async, &faulty{failWrite: 3, part: 20, err: syscall.ENOSPC}, true},
		"exit, full, nothing written": {journal.Exit, &faulty{failWrite: 3, err: syscall.ENOSPC}, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := home(t, t.TempDir(), row.durability)
			f := create(t, h, row.disk)
			var err error
			n := uint64(0)
			for err == nil && n < 10 {
				n++
				var ticket *journal.Ticket
				if ticket, err = f.Append([]journal.Record{{Seq: n, Kind: journal.Marker}}); err == nil {
					err = ticket.Wait()
				}
			}
			if n != 3 || errors.Is(err, journal.ErrFull) != row.full || !errors.Is(err, row.disk.err) {
				t.Fatal(n, err)
			}
			if row.full && !strings.Contains(err.Error(), "free some space") {
				t.Fatal("no way out:", err)
			}
			if _, again := f.Append([]journal.Record{{Seq: 9, Kind: journal.Marker}}); again == nil || again.Error() != err.Error() {
				t.Fatal("a failed journal took more:", again)
			}
			if _, again := f.Load(); again == nil {
				t.Fatal("a failed journal was read again")
			}
			f.Close()
			h.Through(nil)
			if f, err = h.Open("r"); err != nil {
				t.Fatal("the file is not intact:", err)
			}
			defer f.Close()
			recs, _ := f.Load()
			if len(recs) != 2 || f.Dropped() != 0 {
				t.Fatalf("%d records, %d bytes dropped", len(recs), f.Dropped())
			}
			appended(t, f, journal.Record{Seq: 3, Kind: journal.Marker})
		})
	}
}

// A background sync after a failed write must not count the record that was not written.
func TestALateSyncCountsOnlyWhatIsWritten(t *testing.T) {
	h := home(t, t.TempDir(), journal.Async)
	f := create(t, h, &faulty{failWrite: 3, part: 20, err: syscall.ENOSPC})
	appended(t, f, journal.Record{Seq: 1, Kind: journal.Marker}, journal.Record{Seq: 2, Kind: journal.Marker})
	var err error
	for n := uint64(3); err == nil && n < 10; n++ {
		_, err = f.Append([]journal.Record{{Seq: n, Kind: journal.Marker}})
	}
	if !errors.Is(err, journal.ErrFull) {
		t.Fatal(err)
	}
	if err := f.SyncLate(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	h.Through(nil)
	again, err := h.Open("r")
	if err != nil {
		t.Fatal("the file is not intact:", err)
	}
	again.Close()
}

func TestDurabilitySaysWhoWaitsForTheDisk(t *testing.T) {
	for d, want := range map[journal.Durability]struct{ open, closed int64 }{
		journal.Sync: {3, 3}, journal.Exit: {0, 1},
		journal.Async: {0, 0}, // its syncs do not go through the run's own handle
	} {
		t.Run(string(d), func(t *testing.T) {
			h := home(t, t.TempDir(), d)
			disk := &faulty{}
			f := create(t, h, disk)
			for i := range 3 {
				appended(t, f, journal.Record{Seq: uint64(i + 1), Kind: journal.Marker})
			}
			if n := disk.syncs.Load(); n != want.open {
				t.Errorf("%d syncs while open, want %d", n, want.open)
			}
			f.Close()
			if n := disk.syncs.Load(); n != want.closed {
				t.Errorf("%d syncs when closed, want %d", n, want.closed)
			}
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestARecordWithoutJSONFormDoesNotHarmTheFile(t *testing.T) {
	for _, d := range []journal.Durability{journal.Sync, journal.Async} {
		h := home(t, t.TempDir(), d)
		f := create(t, h, &faulty{})
		if _, err := f.Append([]journal.Record{start, {Kind: 99}}); err == nil {
			t.Fatal("no error")
		}
		appended(t, f, start)
		f.Close()
		if recs, err := h.Read("r"); err != nil || len(recs) != 1 {
			t.Fatal(err, len(recs))
		}
	}
}
