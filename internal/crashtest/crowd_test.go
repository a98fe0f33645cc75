//go:build faults && linux

package crashtest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Twenty runs at once in one home, ten of them on one conversation: all
// succeed, and every turn of the conversation is kept.
func TestTwentyRunsAtOnceInOneHome(t *testing.T) {
	home := newWorld(t)
	want := undisturbed(newWorld(t))
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			w := newWorld(t)
			w.home = home.home
			id := fmt.Sprint("r", i)
			memory := "shared"
			if i >= 10 {
				memory = fmt.Sprint("alone", i)
			}
			s := w.command(fate{}, "run", "spec.yaml", "question "+id, "--run-id", id, "--memory-id", memory)
			if err := s.Start(); err != nil {
				t.Error(err)
				return
			}
			_ = s.Wait()
			var got result
			if code := s.ProcessState.ExitCode(); code != done || json.Unmarshal(s.stdout.Bytes(), &got) != nil {
				t.Errorf("run %s: exit code %d: %s", id, code, s.stderr.String())
				return
			}
			if got.Response != want.Response || len(got.Steps) != 20 || len(got.Warnings) > 0 {
				t.Errorf("run %s: %s", id, s.stdout.String())
			}
			for key, times := range w.ledger() {
				if times != 1 || !strings.Contains(key, " "+id+"/") {
					t.Errorf("run %s: %s stands %d times in its ledger", id, key, times)
				}
			}
		})
	}
	wg.Wait()
	s := home.command(fate{}, "memory", "show", "shared")
	s.Args = without(s.Args, "-q", "--events", s.events)
	if code := home.finish(s, fate{}); code != done {
		home.fatal("memory show: %d", code)
	}
	for i := range 10 {
		if n := bytes.Count(s.stdout.Bytes(), fmt.Appendf(nil, `"question r%d"`, i)); n != 1 {
			t.Errorf("the turn of run r%d stands %d times in the conversation: %s", i, n, s.stdout.String())
		}
	}
}

// Of two sessions on one run the second is told who has it.
func TestTheSecondSessionOnARunIsToldWhoHoldsIt(t *testing.T) {
	w := slow(newWorld(t))
	first := w.begin(fate{})
	w.untilAsleep(first)
	second := w.resume(fate{})
	code := w.finish(second, fate{})
	if want := fmt.Sprintf("run r is held by pid %d", first.Process.Pid); code != infra || !strings.Contains(second.stderr.String(), want) {
		w.fatal("the second session ended %d: %s; want %s", code, second.stderr.String(), want)
	}
	_ = first.Process.Signal(syscall.SIGKILL)
	if code := w.ended(first); code != killed {
		w.fatal("the first session ended %d", code)
	}
	began := time.Now()
	if code := w.finish(w.resume(fate{}), fate{}); code != waits {
		w.fatal("after the holder died the run ended %d", code)
	}
	if took := time.Since(began); took > patience {
		w.fatal("it took %v to take over a dead holder's run", took)
	}
}
