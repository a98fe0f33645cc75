package kernel_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

func blowUp() { panic("boom") }

// A panic in a branch ends the run with the branch's own stack; the others
// unwind with their defers, and no goroutine is left (or synctest says so).
func TestPanicInABranch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unwound := 0
		_, err := run(&journal.Memory{}, func(s *kernel.Scope) error {
			return s.Parallel(50, name, func(i int, s *kernel.Scope) error {
				defer func() { unwound++ }()
				eff(s, "a", time.Millisecond)
				if i == 7 {
					blowUp()
				}
				return s.Parallel(2, name, func(_ int, s *kernel.Scope) error { return s.Await(func() bool { return false }) })
			})
		})
		var p *kernel.PanicError
		if !errors.As(err, &p) || !strings.Contains(string(p.Stack), "blowUp") || unwound != 50 {
			t.Fatal(err, unwound)
		}
	})
}

func TestPanicsNameWhereTheyHappened(t *testing.T) {
	for label, row := range map[string]struct {
		main func(*kernel.Scope) error
		path string
	}{
		"first branch": {func(*kernel.Scope) error { blowUp(); return nil }, ""},
		"other branch": {func(s *kernel.Scope) error {
			return s.Parallel(2, name, func(i int, s *kernel.Scope) error { blowUp(); return nil })
		}, ""},
		"effect": {func(s *kernel.Scope) error {
			_, err := kernel.Do(s, kernel.Effect[int]{Name: "e", Class: journal.Write, Perform: func(context.Context, string) (int, error) { blowUp(); return 0, nil }})
			return err
		}, "e"},
	} {
		t.Run(label, func(t *testing.T) {
			j := &journal.Memory{}
			_, err := run(j, row.main)
			var p *kernel.PanicError
			if !errors.As(err, &p) || p.Path != row.path || p.Value != "boom" || !strings.Contains(string(p.Stack), "blowUp") || !strings.Contains(err.Error(), "boom") {
				t.Fatal(err)
			}
			for _, r := range j.Records {
				if r.Kind == journal.Result || r.Kind == journal.End {
					t.Fatal("an outcome that nobody knows was journaled")
				}
			}
		})
	}
}

// Suspend: all goroutines end; an effect in a defer ends too.
func TestSuspendLeaksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		j := &journal.Memory{}
		_, err := runWith(ctx, kernel.Options{Journal: j}, func(s *kernel.Scope) error {
			return s.Parallel(1000, name, func(i int, s *kernel.Scope) error {
				defer eff(s, "cleanup", 0)
				_, err := eff(s, "a", time.Hour)
				t.Error("node code saw the suspension:", err)
				return err
			})
		})
		if !errors.Is(err, kernel.ErrSuspended) {
			t.Fatal(err)
		}
		for _, r := range j.Records {
			if strings.HasSuffix(r.Path, "cleanup") {
				t.Fatal("an effect was journaled while unwinding")
			}
		}
	})
}

// What ends within the grace time is journaled, and the next session starts with it.
func TestGraceKeepsWhatWasPaidFor(t *testing.T) {
	for _, sp := range []struct {
		grace time.Duration
		held  int
	}{{0, 0}, {90 * time.Second, 2}, {time.Hour, 3}} {
		synctest.Test(t, func(t *testing.T) {
			j := &journal.Memory{RoundTrip: true}
			performed := map[string]int{}
			var mu sync.Mutex
			var order []string
			prog := func(s *kernel.Scope) error {
				order = nil
				return s.Parallel(3, name, func(i int, s *kernel.Scope) error {
					for _, n := range []string{"e", "f"} {
						v, err := kernel.Do(s, kernel.Effect[string]{Name: n, Class: journal.Idempotent, Perform: func(ctx context.Context, key string) (string, error) {
							mu.Lock()
							performed[key]++
							mu.Unlock()
							select {
							case <-time.After(time.Duration(i+1) * 45 * time.Second):
								return key, nil
							case <-ctx.Done():
								return "", ctx.Err()
							}
						}})
						if err != nil {
							return err
						}
						order = append(order, v)
					}
					return nil
				})
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			o := kernel.Options{RunID: "r", Journal: j, Grace: sp.grace}
			if _, err := runWith(ctx, o, prog); !errors.Is(err, kernel.ErrSuspended) || len(order) != 0 {
				t.Fatal(err, order)
			}
			held := 0
			for _, r := range j.Records {
				if r.Deferred {
					held++
				}
			}
			if held != sp.held {
				t.Fatalf("grace %s: %d results were held, want %d", sp.grace, held, sp.held)
			}
			if _, err := runWith(t.Context(), o, prog); err != nil || len(order) != 6 {
				t.Fatal(err, order)
			}
			first := order
			if st, err := runWith(t.Context(), o, prog); err != nil || st.Performed != 0 || strings.Join(first, " ") != strings.Join(order, " ") {
				t.Fatal(err, first, order)
			}
			for i := range 3 {
				if want := 2 - min(1, max(0, sp.held-i)); performed["r/"+name(i)+"/e"] != want {
					t.Errorf("grace %s: %s was performed %d times, want %d", sp.grace, name(i), performed["r/"+name(i)+"/e"], want)
				}
			}
		})
	}
}

func TestASuspendedVirtualRunGivesTheSameStateLater(t *testing.T) {
	sp := agents["guard fires"]
	want, _, err := sp.run(newWorld(0), &journal.Memory{}, kernel.Options{Virtual: true})
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < 10; n += 2 {
		j := &journal.Memory{RoundTrip: true}
		ctx, cancel := context.WithCancel(t.Context())
		w := &countdown{fickle: newWorld(0), left: n, end: cancel}
		var out outcome
		o := kernel.Options{RunID: "r", Journal: j, Virtual: true, Grace: time.Minute}
		if _, err := kernel.Run(ctx, o, sp.program(w, &out)); err != nil && !errors.Is(err, kernel.ErrSuspended) { // nil: the end came first
			t.Fatal(n, err)
		}
		if _, err := kernel.Run(t.Context(), o, sp.program(newWorld(0), &out)); err != nil {
			t.Fatal(n, err)
		}
		if out.ToolCalls == 0 || len(out.Steps) != len(want.Steps) {
			t.Fatal(n, out)
		}
		rerun(t, sp, j.Records, o, out)
	}
}

// countdown suspends the run at its n-th model call.
type countdown struct {
	*fickle
	left int
	end  func()
}

func (c *countdown) model(ctx context.Context, key, prompt string) (reply, error) {
	c.mu.Lock()
	if c.left--; c.left == 0 {
		c.end()
	}
	c.mu.Unlock()
	return c.fickle.model(ctx, key, prompt)
}

func TestASessionThatIsOverBeforeItBeginsDoesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	j := &journal.Memory{}
	if _, err := runWith(ctx, kernel.Options{Journal: j}, func(*kernel.Scope) error { t.Error("ran"); return nil }); !errors.Is(err, kernel.ErrSuspended) || len(j.Records) != 0 {
		t.Fatal(err)
	}
}

func TestDeadlockIsAnError(t *testing.T) {
	_, err := run(&journal.Memory{}, func(s *kernel.Scope) error { return s.Await(func() bool { return false }) })
	if !errors.Is(err, kernel.ErrDeadlock) {
		t.Fatal(err)
	}
}

func recurse(s *kernel.Scope, n int) int {
	var pad [128]byte
	if n == 0 {
		eff(s, "deep", 0)
		return int(pad[0])
	}
	return recurse(s, n-1) + int(pad[1])
}

func TestDeepStack(t *testing.T) {
	if _, err := run(&journal.Memory{}, func(s *kernel.Scope) error { recurse(s, 100_000); return nil }); err != nil {
		t.Fatal(err)
	}
}

// Goexit in node code, as t.FailNow does, ends the caller's goroutine with its
// defers: the caller sees what it would see without a kernel between.
func TestGoexitEndsTheCallersGoroutine(t *testing.T) {
	for label, main := range map[string]func(*kernel.Scope) error{
		"first branch": func(*kernel.Scope) error { runtime.Goexit(); return nil },
		"other branch": func(s *kernel.Scope) error {
			return s.Parallel(2, name, func(i int, s *kernel.Scope) error {
				eff(s, "e", 0)
				if i == 1 {
					runtime.Goexit()
				}
				return nil
			})
		},
	} {
		t.Run(label, func(t *testing.T) {
			returned, ended := false, make(chan struct{})
			go func() {
				defer close(ended)
				_, _ = run(&journal.Memory{}, main)
				returned = true
			}()
			<-ended
			if returned {
				t.Fatal("Run returned")
			}
		})
	}
}

func TestGoexitInAnEffectEndsTheRun(t *testing.T) {
	_, err := run(&journal.Memory{}, func(s *kernel.Scope) error {
		_, err := kernel.Do(s, kernel.Effect[int]{Name: "e", Class: journal.Read, Perform: func(context.Context, string) (int, error) { runtime.Goexit(); return 0, nil }})
		return err
	})
	var p *kernel.PanicError
	if !errors.As(err, &p) || p.Path != "e" {
		t.Fatal(err)
	}
}

func TestRunOnALockedThread(t *testing.T) {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		_, err := run(&journal.Memory{}, func(s *kernel.Scope) error {
			return s.Parallel(3, name, func(_ int, s *kernel.Scope) error { _, err := eff(s, "a", 0); return err })
		})
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
