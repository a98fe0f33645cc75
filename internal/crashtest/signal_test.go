//go:build faults && linux

package crashtest_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is how long a suspended session may take: the promise of the page
// of commands is 10 s.
const patience = 10 * time.Second

// The first SIGINT or SIGTERM, at any time, parks the run with the command that
// resumes it; resumed, it comes to the undisturbed end.
func TestASignalParksTheRunAtAnyTime(t *testing.T) {
	sets := modes["four at once"]
	w := newWorld(t, sets...)
	began := time.Now()
	want := undisturbed(w)
	whole := time.Since(began)
	rng := rand.New(rand.NewPCG(3, 4))
	parked := map[syscall.Signal]int{}
	for n := range 60 {
		sig, code := syscall.SIGINT, interrupted
		if n%2 == 1 {
			sig, code = syscall.SIGTERM, terminated
		}
		w := newWorld(t, sets...)
		s := w.loud(w.begin(fate{}))
		after := 10*time.Millisecond + time.Duration(rng.Int64N(int64(whole)))
		switch got, took := w.signalled(s, sig, after); {
		case got == done: // it was quicker
		case got == killed && len(w.tail()) == 0: // before pexctl listens, and so before the run began
		case got != code:
			w.fatal("%v ended it with %d", sig, got)
		case took > patience:
			w.fatal("%v took %v", sig, took)
		default:
			parked[sig]++
			if !strings.Contains(s.stderr.String(), "pexctl resume "+runID+" --home ") {
				w.fatal("it does not say how to resume")
			}
		}
		w.exists = true
		w.check(w.untilDone(func(int) fate { return fate{} }), want)
	}
	t.Logf("parked: %v; a run takes %v", parked, whole)
	if parked[syscall.SIGINT] < 10 || parked[syscall.SIGTERM] < 10 {
		t.Error("too few signals came while a run was on")
	}
}

// A tool that takes its time has the grace time to end in; a second signal does
// not wait for it. Neither leaves a process behind.
func TestASecondSignalStopsAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		signals int
		quick   time.Duration
	}{
		"one signal": {1, patience}, "two signals": {2, 3 * time.Second},
	} {
		for sig, code := range map[syscall.Signal]int{syscall.SIGINT: interrupted, syscall.SIGTERM: terminated} {
			t.Run(name+" "+sig.String(), func(t *testing.T) {
				t.Parallel()
				w := slow(newWorld(t))
				s := w.loud(w.begin(fate{}))
				w.untilAsleep(s)
				began := time.Now()
				for range c.signals {
					_ = s.Process.Signal(sig)
					time.Sleep(100 * time.Millisecond) // two signals at once are one
				}
				if got := w.ended(s); got != code {
					w.fatal("exit code %d, want %d", got, code)
				}
				if took := time.Since(began); took > c.quick {
					w.fatal("it took %v", took)
				}
				w.noProcessIsLeft()
			})
		}
	}
}

// Kill -9 leaves no process either.
func TestAKillLeavesNoProcess(t *testing.T) {
	w := slow(newWorld(t))
	s := w.begin(fate{})
	w.untilAsleep(s)
	_ = s.Process.Kill()
	if got := w.ended(s); got != killed {
		w.fatal("exit code %d", got)
	}
	w.noProcessIsLeft()
}

// slow makes the first write take a minute, in a child of a child.
func slow(w *world) *world {
	w.t.Helper()
	spec := w.read(filepath.Join(w.dir, "spec.yaml"))
	quick := []byte("sleep 0.002; echo")
	if !bytes.Contains(spec, quick) {
		w.t.Fatal("the spec's tool is another one")
	}
	w.write("spec.yaml", bytes.Replace(spec, quick, []byte("touch asleep; sleep 60 & sleep 60; echo"), 1))
	return w
}

// untilAsleep starts a session and waits until its slow tool runs.
func (w *world) untilAsleep(s *session) {
	w.t.Helper()
	w.until(s, func() bool {
		_, err := os.Stat(filepath.Join(w.dir, "asleep"))
		return err == nil
	})
}

// until starts a session and waits until it has come so far.
func (w *world) until(s *session, there func() bool) {
	w.t.Helper()
	if err := s.Start(); err != nil {
		w.t.Fatal(err)
	}
	for began := time.Now(); !there(); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > longest {
			w.fatal("the session never came so far: %s", s.stderr.String())
		}
	}
}

// loud has a session say on stderr what a user at work sees.
func (w *world) loud(s *session) *session {
	s.Args = without(s.Args, "-q")
	return s
}

func (w *world) signalled(s *session, sig syscall.Signal, after time.Duration) (code int, took time.Duration) {
	w.t.Helper()
	if err := s.Start(); err != nil {
		w.t.Fatal(err)
	}
	time.Sleep(after)
	began := time.Now()
	_ = s.Process.Signal(sig)
	return w.ended(s), time.Since(began)
}

// noProcessIsLeft looks for processes that work in the world's folder.
func (w *world) noProcessIsLeft() {
	w.t.Helper()
	var left []string
	for began := time.Now(); time.Since(began) < 5*time.Second; time.Sleep(20 * time.Millisecond) {
		left = nil
		links, _ := filepath.Glob("/proc/[0-9]*/cwd")
		for _, link := range links {
			if dir, err := os.Readlink(link); err == nil && dir == w.dir {
				line, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
				left = append(left, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
			}
		}
		if len(left) == 0 {
			return
		}
	}
	w.fatal("processes are left: %q", left)
}
