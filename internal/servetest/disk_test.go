//go:build linux && e2e

package servetest_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A disk that becomes full while runs execute: new runs are rejected, and those that
// execute lose nothing. With space again, they continue by themselves, or at the next start.
func TestAFullDiskRejectsRunsAndLosesNone(t *testing.T) {
	const rounds, runs, steps = 10, 10, 8
	stopped, rejected, doubts := 0, 0, doubts{}
	for round := range rounds {
		a := agent{name: "writes", steps: steps, tool: slowTool, latency: 10 * time.Millisecond}
		w := newWorld(t, map[string]string{"server.yaml": serverFile("park_after: 10ms"), "spec.yaml": a.spec()})
		w.mayLog = []string{"status=507", "status=503", "no space left"}
		d := mountDisk(w)
		w.start()
		var ids []string
		for i := range runs {
			ids = append(ids, fmt.Sprint("r-", i))
			w.create(a.name, ids[i])
		}
		time.Sleep(time.Duration(rand.IntN(800)) * time.Millisecond)
		d.fill()
		r, err := w.do(http.MethodPost, "/v1/agents/writes/runs", `{"question":"q","run_id":"late"}`)
		if err != nil {
			t.Fatal(err)
		}
		if r.status != http.StatusInsufficientStorage || !strings.Contains(string(r.body), `"store_full"`) {
			t.Errorf("a new run: status %d, want 507: %s", r.status, r.body)
		}
		rejected++
		w.until("no run executes", func() bool {
			for _, run := range ids {
				if w.result(run).Status == "running" {
					return false
				}
			}
			return true
		})
		for _, run := range ids {
			if res := w.result(run); res.Status != "completed" {
				stopped++
			}
		}
		w.until("the server is not ready", func() bool {
			health, err := w.do(http.MethodGet, "/readyz", "")
			return err == nil && health.status == http.StatusServiceUnavailable
		})
		d.free()
		w.awaitReady()
		if round%2 == 0 {
			w.kill()
			w.start()
		}
		w.until("all runs are done", func() bool {
			left := len(ids)
			for _, run := range ids {
				switch res := w.result(run); {
				case res.Status == "completed":
					left--
				case len(res.Interrupts) > 0:
					doubts.settle(w, run)
				}
			}
			return left == 0
		})
		for _, run := range ids {
			for i, ev := range w.events(run) {
				if ev.number() != i+1 {
					t.Errorf("run %s: event %d is %s", run, i+1, ev)
				}
			}
		}
		if r, err := w.do(http.MethodGet, "/v1/runs/late", ""); err != nil || r.status != http.StatusNotFound {
			t.Errorf("the rejected run exists: %d %s", r.status, r.body)
		}
		w.create(a.name, "late")
		w.until("the late run is done", func() bool { return w.result("late").Status == "completed" })
		w.ledger((runs + 1) * steps)
		w.kill()
		d.unmount()
	}
	t.Logf("%d times a full disk: %d new runs were rejected, %d of %d runs stopped and were continued; writes in doubt: %d done, %d not", rounds, rejected, stopped, rounds*runs, doubts.done, doubts.redone)
	if stopped < rounds {
		t.Error("too few runs met a full disk")
	}
}

// disk is a small file system that holds the home of a world.
type disk struct {
	t    testing.TB
	dir  string
	file string
}

func mountDisk(w *world) *disk {
	w.t.Helper()
	d := &disk{t: w.t, dir: w.home, file: filepath.Join(w.home, "fill")}
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", d.dir, "tmpfs", 0, "size=16m"); err != nil {
		w.t.Skip("mounting a small disk needs root, or unshare -rm: ", err)
	}
	w.t.Cleanup(d.unmount)
	return d
}

// tmpfs is the type of the small disk (TMPFS_MAGIC of linux/magic.h).
const tmpfs = 0x01021994

// fill fills the disk, and no other.
func (d *disk) fill() {
	d.t.Helper()
	f, err := os.OpenFile(d.file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		d.t.Fatal(err)
	}
	defer f.Close()
	var s syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &s); err != nil || s.Type != tmpfs {
		d.t.Fatal("not on the small disk: ", err)
	}
	for chunk := make([]byte, 1<<20); len(chunk) > 0; {
		if _, err := f.Write(chunk); err != nil {
			chunk = chunk[:len(chunk)/16]
		}
	}
}

func (d *disk) free() {
	d.t.Helper()
	if err := os.Remove(d.file); err != nil {
		d.t.Fatal(err)
	}
}

func (d *disk) unmount() { _ = syscall.Unmount(d.dir, syscall.MNT_DETACH) }
