package commitlog_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/pexctl/pex/engine/journal/commitlog"
)

// failing is a disk that fails.
type failing struct {
	commitlog.Disk
	write, sync *error
	size        int64 // writes beyond fail with ENOSPC; 0 = no limit
}

func (d failing) WriteAt(b []byte, at int64) (int, error) {
	if *d.write != nil {
		return 0, *d.write
	}
	if d.size > 0 && at+int64(len(b)) > d.size {
		return 0, syscall.ENOSPC
	}
	return d.Disk.WriteAt(b, at)
}

func (d failing) Sync() error {
	if *d.sync != nil {
		return *d.sync
	}
	return d.Disk.Sync()
}

// A disk that has no more room than what the log took when it was opened does not end the
// log: a group that does not fit fails, and the next one may fit.
func TestAFullDiskFailsAGroup(t *testing.T) {
	var none error
	w := newWorld(t, commitlog.Options{Wrap: func(d commitlog.Disk) commitlog.Disk { return failing{d, &none, &none, 256 << 10} }})
	for range 20 { // more than both segments have room for
		if err := w.add("a", strings.Repeat("x", 100<<10)).Wait(); err != nil {
			t.Fatal(err)
		}
	}
	if w.checkpointed() < 5 {
		t.Errorf("%d checkpoints", w.checkpointed())
	}
	if err := w.add("b", strings.Repeat("x", 300<<10)).Wait(); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := w.add("c", "x").Wait(); err != nil {
		t.Fatal(err)
	}
	err := commitlog.Recover(w.copied(), func(frames []commitlog.Frame) error {
		if last := frames[len(frames)-1]; last.Name != "c" || string(last.Bytes) != "x" {
			t.Errorf("the last frame is %.20q of %s", last.Bytes, last.Name)
		}
		if slices.ContainsFunc(frames, func(f commitlog.Frame) bool { return f.Name == "b" }) {
			t.Error("the failed frame is in the log")
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if err := w.log.Close(); err != nil {
		t.Error(err)
	}
}

// After a failed sync, what was not acknowledged is not in the log, and the log has ended.
func TestAFailedSyncEndsTheLog(t *testing.T) {
	var none, broken error
	w := newWorld(t, commitlog.Options{Wrap: func(d commitlog.Disk) commitlog.Disk { return failing{d, &none, &broken, 0} }})
	if err := w.add("a", "one").Wait(); err != nil {
		t.Fatal(err)
	}
	broken = syscall.EIO
	if err := w.add("a", "two").Wait(); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if _, err := w.log.Add(&commitlog.Frame{Name: "b"}, nil); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	dir := w.copied()
	if err := w.log.Close(); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	if got := recovered(t, dir); got["a"] != "one" {
		t.Error(got)
	}
}

// After a failed checkpoint, the log is the only durable copy of what is in it.
func TestAFailedCheckpointEndsTheLog(t *testing.T) {
	w := newWorld(t, commitlog.Options{Limit: 4 << 10})
	w.failing = syscall.ENOSPC
	var err error
	for range 20 {
		g, aerr := w.log.Add(&commitlog.Frame{Name: "a", Bytes: make([]byte, 1000)}, nil)
		if err = aerr; err == nil {
			err = g.Wait()
		}
		if err != nil {
			break
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if err := w.log.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "1.a")); err != nil {
		t.Error(err)
	}
}
