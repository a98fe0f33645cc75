//go:build faults && linux

package crashtest_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A disk of 128 MB, room for the memory, that is full before a run, becomes full
// during it, or is filled by it: nobody crashes, nothing acknowledged is lost, and
// with space again the run goes on to the same end.
func TestAFullDiskParksARunAndLosesNothing(t *testing.T) {
	want := undisturbed(newWorld(t))
	rng := rand.New(rand.NewPCG(1, 2))
	stopped := map[string]int{}
	for range 12 {
		for name, c := range map[string]struct {
			before func(*disk) // what is on it when the run begins
			during func() time.Duration
		}{
			"before":     {before: func(d *disk) { d.leave(0) }},
			"by the run": {before: func(d *disk) { d.leave(8<<10 + rng.Int64N(72<<10)) }},
			"during":     {during: func() time.Duration { return time.Duration(20+rng.IntN(400)) * time.Millisecond }},
		} {
			w := newWorld(t)
			d := mountDisk(w)
			if c.before != nil {
				c.before(d)
			}
			s := w.begin(fate{})
			filled := make(chan struct{})
			filling := time.AfterFunc(time.Hour, func() { defer close(filled); d.leave(0) })
			if c.during != nil {
				filling.Reset(c.during())
			}
			switch code := w.finish(s, fate{}); {
			case code == infra && (strings.Contains(s.stdout.String(), "store_full") || strings.Contains(s.stderr.String(), "no space left")):
				stopped[name]++
			case code != done:
				w.fatal("%s: exit code %d, stdout %s", name, code, s.stdout.String())
			}
			if !filling.Stop() {
				<-filled
			}
			d.free()
			w.exists = true
			w.check(w.untilDone(func(int) fate { return fate{} }), want)
			d.unmount()
		}
	}
	t.Logf("of 12 runs each stopped for want of space: %v", stopped)
	for name, n := range map[string]int{"before": 12, "by the run": 6, "during": 4} {
		if stopped[name] < n {
			t.Errorf("%s: only %d runs met a full disk", name, stopped[name])
		}
	}
}

// disk is a small file system that holds a world's home.
type disk struct {
	w         *world
	dir, fill string
}

func mountDisk(w *world) *disk {
	w.t.Helper()
	d := &disk{w: w, dir: w.home}
	d.fill = filepath.Join(d.dir, "fill")
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", d.dir, "tmpfs", 0, "size=128m"); err != nil {
		w.t.Skip("mounting a small disk needs root, or unshare -rm: ", err)
	}
	w.t.Cleanup(d.unmount)
	return d
}

// tmpfs is the type of the small disk (TMPFS_MAGIC of linux/magic.h).
const tmpfs = 0x01021994

// leave fills the disk until about n bytes are free: the small one and no
// other. It is called beside a run that writes too.
func (d *disk) leave(n int64) {
	f, err := os.OpenFile(d.fill, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	chunk := make([]byte, 4<<10)
	for {
		var s syscall.Statfs_t
		if syscall.Fstatfs(int(f.Fd()), &s) != nil || s.Type != tmpfs || int64(s.Bavail)*s.Bsize <= n {
			return
		}
		if left := int64(s.Bavail)*s.Bsize - n; left > 1<<20 {
			chunk = make([]byte, 1<<20)
		} else {
			chunk = chunk[:4<<10]
		}
		if _, err := f.Write(chunk); err != nil {
			return
		}
	}
}

func (d *disk) free() {
	d.w.t.Helper()
	if err := os.Remove(d.fill); err != nil && !os.IsNotExist(err) {
		d.w.t.Fatal(err)
	}
}

func (d *disk) unmount() { _ = syscall.Unmount(d.dir, syscall.MNT_DETACH) }
