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

// resting is a store that stays open for an hour after each operation.
func resting(t *testing.T, dir string) *badger.Store {
	t.Helper()
	s := badger.Open(dir, badger.Options{Idle: time.Hour})
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestARestingStoreStaysOpenUntilClosed(t *testing.T) {
	dir := t.TempDir()
	before := runtime.NumGoroutine()
	s := resting(t, dir)
	for i := range 3 {
		if err := s.Append(t.Context(), interaction("c", fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
		if isClosed(t, dir) {
			t.Error("it was closed at once")
		}
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if !isClosed(t, dir) {
		t.Error("Close left it open")
	}
	for i := 0; runtime.NumGoroutine() > before && i < 1e6; i++ {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, %d before", n, before)
	}
	if _, err := s.History(t.Context(), "c"); err == nil {
		t.Error("it works after Close")
	}
	held(t, dir, "c", 3)
}

func TestARestingStoreClosesByItself(t *testing.T) {
	dir := t.TempDir()
	s := badger.Open(dir, badger.Options{Idle: time.Millisecond})
	defer s.Close()
	if err := s.Append(t.Context(), interaction("c", "0")); err != nil {
		t.Fatal(err)
	}
	for !isClosed(t, dir) { // else the test never ends
		runtime.Gosched()
	}
	held(t, dir, "c", 1)
}

// Two seconds are what is promised to who waits.
func TestARestingStoreIsHandedOver(t *testing.T) {
	dir := t.TempDir()
	s := resting(t, dir)
	other := badger.Open(dir, badger.Options{LockWait: 2 * time.Second})
	for i := range 5 {
		if err := s.Append(t.Context(), interaction("c", fmt.Sprint(2*i))); err != nil {
			t.Fatal(err)
		}
		if err := other.Append(t.Context(), interaction("c", fmt.Sprint(2*i+1))); err != nil {
			t.Fatal(err)
		}
	}
	held(t, dir, "c", 10)
}

func TestABusyStoreIsHandedOver(t *testing.T) {
	dir := t.TempDir()
	s := resting(t, dir)
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

func TestAProcessKilledWhileItRestsBlocksNobody(t *testing.T) {
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

func TestCloseWaitsForWhatIsUnderWay(t *testing.T) {
	dir := t.TempDir()
	s := resting(t, dir)
	inside, goOn := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		err := s.UpdateSession(t.Context(), "c", func(now *memory.Session) error {
			close(inside)
			<-goOn
			now.Notes = append(now.Notes, memory.Note{ID: "1"})
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-inside
	wg.Go(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if !isClosed(t, dir) {
			t.Error("Close came back too early")
		}
	})
	close(goOn)
	wg.Wait()
	if got, err := badger.Open(dir, badger.Options{}).Session(t.Context(), "c"); err != nil || len(got.Notes) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

// BenchmarkNotes is what a run that writes a note now and then feels.
func BenchmarkNotes(b *testing.B) {
	for _, idle := range []time.Duration{0, 300 * time.Millisecond} {
		b.Run(fmt.Sprintf("idle_%v", idle), func(b *testing.B) {
			s := badger.Open(b.TempDir(), badger.Options{Idle: idle})
			defer s.Close()
			for i := 0; b.Loop(); i++ {
				err := s.UpdateSession(b.Context(), "c", func(now *memory.Session) error {
					now.Notes = []memory.Note{{ID: fmt.Sprint(i), Text: strings.Repeat("x", 500)}}
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkWitness is a write of 2 kB to two open stores by turns, of which one
// counts its writes in a file: x is what a write costs with it, by medians.
func BenchmarkWitness(b *testing.B) {
	var stores [2]*badger.Store
	var took [2][]time.Duration
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
			began := time.Now()
			write(i, id)
			took[i] = append(took[i], time.Since(began))
		}
	}
	for i := range took {
		slices.Sort(took[i])
	}
	median := func(i int) float64 { return float64(took[i][len(took[i])/2]) }
	b.ReportMetric(median(1)/median(0), "x")
	b.ReportMetric(median(0), "ns/write")
}

// BenchmarkHandOver is the wait for a store that rests open elsewhere.
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
