package kernel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// goroutine returns the name of the calling goroutine.
func goroutine() string {
	b := make([]byte, 64)
	return string(bytes.Fields(b[:runtime.Stack(b, false)])[1])
}

// performedOn runs an effect and returns the goroutine that performs it.
func performedOn(w *kernel.Workers, perform func()) (on string, err error) {
	_, err = runWith(context.Background(), kernel.Options{RunID: "r", Journal: &journal.Memory{}, Workers: w}, func(s *kernel.Scope) error {
		_, err := kernel.Do(s, kernel.Effect[int]{Name: "e", Class: journal.Read, Perform: func(context.Context, string) (int, error) {
			on = goroutine()
			perform()
			return 0, nil
		}})
		return err
	})
	return on, err
}

// Close ends all goroutines, or synctest reports them.
func TestLaterRunsUseTheGoroutinesOfEarlierOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w kernel.Workers
		defer w.Close()
		first, err := performedOn(&w, func() {})
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			if on, err := performedOn(&w, func() {}); err != nil || on != first {
				t.Fatalf("performed on goroutine %s, the first one on %s: %v", on, first, err)
			}
		}
		var p *kernel.PanicError
		if on, err := performedOn(&w, func() { panic("boom") }); !errors.As(err, &p) || on != first {
			t.Fatal(on, err)
		}
		if _, err := performedOn(&w, runtime.Goexit); !errors.As(err, &p) {
			t.Fatal(err)
		}
		if on, err := performedOn(&w, func() {}); err != nil || on == first {
			t.Fatal("a goroutine that has ended performs effects:", err)
		}
	})
}

func TestManyRunsShareGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w kernel.Workers
		var all sync.WaitGroup
		for n := range 50 {
			all.Go(func() {
				for range 20 {
					o := kernel.Options{RunID: fmt.Sprint("r", n), Journal: &journal.Memory{}, Workers: &w}
					_, err := runWith(t.Context(), o, func(s *kernel.Scope) error {
						return s.Parallel(3, name, func(i int, s *kernel.Scope) error {
							key, err := kernel.Do(s, kernel.Effect[string]{Name: "e", Class: journal.Read, Perform: func(_ context.Context, key string) (string, error) {
								// Many timers with channels in a synctest bubble crash the race detector of Go 1.26.
								time.Sleep(time.Duration(i) * time.Millisecond)
								return key, nil
							}})
							if want := fmt.Sprintf("r%d/b.%d/e", n, i); key != want {
								t.Errorf("key %q, want %q", key, want)
							}
							return err
						})
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		time.Sleep(25 * time.Millisecond) // runs are in progress
		w.Close()
		all.Wait()
	})
}
