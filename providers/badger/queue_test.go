//go:build darwin || freebsd || linux

package badger_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/regular"
	"github.com/pexctl/pex/providers/badger"
)

// tickets returns the ticket names in a store's queue.
func tickets(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "pex-store.queue"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestStoreIsHandedOverInOrderOfArrival(t *testing.T) {
	const waiting = 8
	dir := t.TempDir()
	fill(t, dir, 1)
	release := lockFor(t, filepath.Join(dir, "pex-store.lock"))
	var wg sync.WaitGroup
	var want []string
	for i := range waiting {
		id := strconv.Itoa(i)
		want = append(want, id)
		wg.Go(func() {
			if err := badger.Open(dir, badger.Options{}).Append(t.Context(), interaction("order", id)); err != nil {
				t.Error(err)
			}
		})
		for lockedTickets(t, dir) <= i { // a ticket that is not locked yet can be taken for that of a dead process
			spin(1)
		}
	}
	release()
	wg.Wait()
	history, err := badger.Open(dir, badger.Options{}).History(t.Context(), "order")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, in := range history {
		got = append(got, in.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("served in the order %v", got)
	}
	if remaining := tickets(t, dir); len(remaining) > 0 {
		t.Errorf("remaining tickets: %v", remaining)
	}
}

// lockedTickets returns how many processes wait in a store's queue.
func lockedTickets(t *testing.T, dir string) (n int) {
	t.Helper()
	for _, name := range tickets(t, dir) {
		f, err := os.Open(filepath.Join(dir, "pex-store.queue", name))
		if err != nil {
			continue // it was served
		}
		if free, err := regular.TryShare(f); err == nil && !free {
			n++
		}
		f.Close()
	}
	return n
}

func TestDeadTicketsDoNotBlock(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 1)
	queue := filepath.Join(dir, "pex-store.queue")
	if err := os.MkdirAll(queue, 0o700); err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		if err := os.WriteFile(filepath.Join(queue, strconv.Itoa(n+1)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fill(t, dir, 1)
	if remaining := tickets(t, dir); len(remaining) > 0 {
		t.Errorf("remaining tickets: %v", remaining)
	}
}

// If no ticket can be taken, the process waits without one.
func TestWaitWithoutTicket(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 1)
	if err := os.RemoveAll(filepath.Join(dir, "pex-store.queue")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "pex-store.queue"), []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	release := lockFor(t, filepath.Join(dir, "pex-store.lock"))
	done := make(chan error)
	go func() {
		done <- badger.Open(dir, badger.Options{}).Append(t.Context(), interaction("c", "waited"))
	}()
	spin(1000)
	release()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestLongWaitIsReported(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 1)
	defer lockFor(t, filepath.Join(dir, "pex-store.lock"))()
	var got []string
	s := badger.Open(dir, badger.Options{})
	s.ReportWaits(func(w badger.Wait) {
		got = append(got, fmt.Sprint(w.PID == os.Getpid(), strings.HasSuffix(dir, filepath.Base(w.Dir)), w.Waited.Round(time.Second)))
	})
	for _, waited := range [][]time.Duration{{time.Second}, {4 * time.Second}, {4 * time.Second, 5 * time.Second}, {4 * time.Second, 15 * time.Second}} {
		got = nil
		badger.ReportWait(s, waited...)
		want := 0
		for i, w := range waited {
			if i == 0 && w > 3*time.Second || i > 0 && w-waited[i-1] > 10*time.Second {
				want++
			}
		}
		if len(got) != want || want > 0 && !strings.HasPrefix(got[want-1], "true true "+waited[want-1].String()) {
			t.Errorf("after %v reports %q", waited, got)
		}
	}
}
