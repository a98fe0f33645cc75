//go:build darwin || freebsd || linux

package badger_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/providers/badger"
)

// openIdle returns a store that stays open for an hour after each operation.
func openIdle(t *testing.T, dir string) *badger.Store {
	t.Helper()
	s := badger.Open(dir, badger.Options{Idle: time.Hour})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestIdleStoreStaysOpenUntilClosed(t *testing.T) {
	dir := t.TempDir()
	before := runtime.NumGoroutine()
	s := openIdle(t, dir)
	for i := range 3 {
		if err := s.Append(t.Context(), interaction("c", fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
		if isClosed(t, dir) {
			t.Error("the store was closed immediately")
		}
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if !isClosed(t, dir) {
		t.Error("the store is open after Close")
	}
	for i := 0; runtime.NumGoroutine() > before && i < 1e6; i++ {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
	if _, err := s.History(t.Context(), "c"); err == nil {
		t.Error("History works after Close")
	}
	checkHistory(t, dir, "c", 3)
}

func TestIdleStoreClosesAfterIdleTime(t *testing.T) {
	dir := t.TempDir()
	s := badger.Open(dir, badger.Options{Idle: time.Millisecond})
	defer s.Close()
	if err := s.Append(t.Context(), interaction("c", "0")); err != nil {
		t.Fatal(err)
	}
	for !isClosed(t, dir) { // otherwise the test never ends
		runtime.Gosched()
	}
	checkHistory(t, dir, "c", 1)
}

// Another process gets the store within two seconds.
func TestIdleStoreIsHandedOver(t *testing.T) {
	dir := t.TempDir()
	s := openIdle(t, dir)
	other := badger.Open(dir, badger.Options{LockWait: 2 * time.Second})
	for i := range 5 {
		if err := s.Append(t.Context(), interaction("c", fmt.Sprint(2*i))); err != nil {
			t.Fatal(err)
		}
		if err := other.Append(t.Context(), interaction("c", fmt.Sprint(2*i+1))); err != nil {
			t.Fatal(err)
		}
	}
	checkHistory(t, dir, "c", 10)
}

func TestBusyStoreIsHandedOver(t *testing.T) {
	dir := t.TempDir()
	s := openIdle(t, dir)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := s.Append(t.Context(), interaction("busy", "same")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 3 {
		other := badger.Open(dir, badger.Options{LockWait: 2 * time.Second})
		if err := other.Append(t.Context(), interaction("c", "0")); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	wg.Wait()
}

func TestKilledIdleProcessReleasesTheStore(t *testing.T) {
	dir := t.TempDir()
	cmd, out := start(t, dir, "r", 1, "PEX_TEST_IDLE=1h", "PEX_TEST_STAY=1")
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if got := ids(t, dir); got["r-0"] != 1 {
		t.Errorf("got %v", got)
	}
}

func TestCloseWaitsForOperationsInProgress(t *testing.T) {
	dir := t.TempDir()
	s := openIdle(t, dir)
	started, proceed := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		err := s.UpdateSession(t.Context(), "c", func(session *memory.Session) error {
			close(started)
			<-proceed
			session.Notes = append(session.Notes, memory.Note{ID: "1"})
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-started
	wg.Go(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if !isClosed(t, dir) {
			t.Error("Close returned too early")
		}
	})
	close(proceed)
	wg.Wait()
	if got, err := badger.Open(dir, badger.Options{}).Session(t.Context(), "c"); err != nil || len(got.Notes) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

// BenchmarkNotes measures writing a note with and without an idle time.
func BenchmarkNotes(b *testing.B) {
	for _, idle := range []time.Duration{0, 300 * time.Millisecond} {
		b.Run(fmt.Sprintf("idle_%v", idle), func(b *testing.B) {
			s := badger.Open(b.TempDir(), badger.Options{Idle: idle})
			defer s.Close()
			for i := 0; b.Loop(); i++ {
				err := s.UpdateSession(b.Context(), "c", func(session *memory.Session) error {
					session.Notes = []memory.Note{{ID: fmt.Sprint(i), Text: strings.Repeat("x", 500)}}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWitness writes 2 kB alternately to two open stores, one of which has no witness. x is the ratio of the
// medians with and without it.
func BenchmarkWitness(b *testing.B) {
	var stores [2]*badger.Store
	var durations [2][]time.Duration
	write := func(i, id int) {
		in := interaction("c", fmt.Sprint(id))
		in.Answer = strings.Repeat("x", 2000)
		if err := stores[i].Append(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
	for i := range stores {
		stores[i] = badger.Open(b.TempDir(), badger.Options{Idle: time.Hour})
		defer stores[i].Close()
		write(i, 0)
	}
	if err := badger.WithoutWitness(stores[0]); err != nil {
		b.Fatal(err)
	}
	for id := 1; b.Loop(); id++ {
		for k := range stores {
			i := (id + k) % len(stores)
			start := time.Now()
			write(i, id)
			durations[i] = append(durations[i], time.Since(start))
		}
	}
	for i := range durations {
		slices.Sort(durations[i])
	}
	median := func(i int) float64 { return float64(durations[i][len(durations[i])/2]) }
	b.ReportMetric(median(1)/median(0), "x")
	b.ReportMetric(median(0), "ns/write")
}

// BenchmarkHandOver measures the wait for a store that another one keeps open.
func BenchmarkHandOver(b *testing.B) {
	dir := b.TempDir()
	s := badger.Open(dir, badger.Options{Idle: time.Hour})
	defer s.Close()
	other := badger.Open(dir, badger.Options{})
	for i := 0; b.Loop(); i++ {
		if err := s.Append(b.Context(), interaction("c", fmt.Sprint(i))); err != nil {
			b.Fatal(err)
		}
		if _, err := other.History(b.Context(), "c"); err != nil {
			b.Fatal(err)
		}
	}
}
