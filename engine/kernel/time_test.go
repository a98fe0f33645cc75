package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// The timer's record is the decision: whatever the race was, a re-run agrees.
func TestTimeoutIsJournaled(t *testing.T) {
	hits, misses := 0, 0
	for range 40 {
		synctest.Test(t, func(t *testing.T) {
			j := &journal.Memory{RoundTrip: true}
			var out []string
			prog := func(s *kernel.Scope) error {
				out = nil
				return s.Parallel(3, name, func(i int, s *kernel.Scope) error {
					err := s.Timeout("step", 20*time.Millisecond, func(s *kernel.Scope) error {
						for n := range 4 {
							if _, err := eff(s, fmt.Sprint("e", n), rand.N(10*time.Millisecond)); err != nil {
								return err
							}
						}
						return nil
					})
					if err != nil && !errors.Is(err, kernel.ErrTimeout) {
						t.Error(err)
					}
					out = append(out, fmt.Sprintf("%d %v at %d", i, err, s.Now()))
					return nil
				})
			}
			if _, err := run(j, prog); err != nil {
				t.Fatal(err)
			}
			first := out
			st, err := run(j, prog)
			if err != nil || st.Performed != 0 || !slices.Equal(first, out) {
				t.Fatal(err, st, first, out)
			}
			for _, o := range out {
				if strings.Contains(o, "timeout") {
					hits++
				} else {
					misses++
				}
			}
		})
	}
	if hits == 0 || misses == 0 {
		t.Errorf("%d timeouts, %d not: the test shows nothing", hits, misses)
	}
}

func TestATimeoutEndsReadsButNotWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var readEnded error
		wrote := false
		var at []time.Duration
		_, err := run(&journal.Memory{}, func(s *kernel.Scope) error {
			return s.Timeout("t", time.Second, func(s *kernel.Scope) error {
				return s.Parallel(2, name, func(i int, s *kernel.Scope) error {
					e := kernel.Effect[bool]{Name: "e", Class: journal.Read, Perform: func(ctx context.Context, _ string) (bool, error) {
						<-ctx.Done()
						readEnded = ctx.Err()
						return false, ctx.Err()
					}}
					if i == 1 {
						e.Class, e.Perform = journal.Write, func(ctx context.Context, _ string) (bool, error) {
							time.Sleep(time.Minute)
							wrote = ctx.Err() == nil
							return wrote, nil
						}
					}
					_, err := kernel.Do(s, e)
					at = append(at, s.Now())
					if i == 0 && !errors.Is(err, kernel.ErrTimeout) || i == 1 && err != nil {
						t.Error(i, err)
					}
					return err
				})
			})
		})
		if !errors.Is(err, kernel.ErrTimeout) || readEnded == nil || !wrote || !slices.Equal(at, []time.Duration{time.Second, time.Minute}) {
			t.Fatal(err, readEnded, wrote, at)
		}
	})
}

// Hours between two sessions do not eat a step's timeout.
func TestTimersCountActiveTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal.Memory{}
		prog := func(s *kernel.Scope) error {
			return s.Timeout("step", 60*time.Minute, func(s *kernel.Scope) error {
				if _, err := eff(s, "e1", 20*time.Minute); err != nil {
					return err
				}
				_, err := eff(s, "e2", 30*time.Minute)
				return err
			})
		}
		ctx, cancel := context.WithTimeout(t.Context(), 25*time.Minute)
		defer cancel()
		if _, err := runWith(ctx, kernel.Options{RunID: "r", Journal: j}, prog); !errors.Is(err, kernel.ErrSuspended) {
			t.Fatal(err)
		}
		time.Sleep(24 * time.Hour) // the lid is closed
		if _, err := run(j, prog); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSleepAndDelayTakeTheirTimeLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := run(&journal.Memory{}, func(s *kernel.Scope) error {
			if err := s.Sleep("nap", time.Hour); err != nil {
				return err
			}
			_, err := kernel.Do(s, kernel.Effect[int]{Name: "e", Class: journal.Read, Delay: time.Minute, Perform: func(context.Context, string) (int, error) { return 1, nil }})
			if err != nil || s.Now() != time.Hour+time.Minute {
				t.Error(err, s.Now())
			}
			return s.Timeout("t", time.Minute, func(s *kernel.Scope) error { _, err := eff(s, "e", 2*time.Minute); return err })
		})
		if !errors.Is(err, kernel.ErrTimeout) || time.Since(began) != time.Hour+2*time.Minute {
			t.Fatal(err, time.Since(began))
		}
	})
}

func TestVirtualTimeCostsNothing(t *testing.T) {
	began := time.Now()
	_, err := runWith(t.Context(), kernel.Options{Journal: &journal.Memory{}, Virtual: true}, func(s *kernel.Scope) error {
		if err := s.Sleep("nap", 1000*time.Hour); err != nil {
			return err
		}
		return s.Timeout("t", time.Hour, func(s *kernel.Scope) error {
			_, err := kernel.Do(s, kernel.Effect[int]{Name: "e", Class: journal.Read, Delay: 2 * time.Hour, Perform: func(context.Context, string) (int, error) { return 1, nil }})
			if s.Now() != 1001*time.Hour {
				t.Error(s.Now())
			}
			return err
		})
	})
	if !errors.Is(err, kernel.ErrTimeout) || time.Since(began) > time.Hour {
		t.Fatal(err)
	}
}

// Cancel is a record: code sees it, cleans up, and does the same again.
func TestCancelIsJournaled(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			cancel := make(chan struct{})
			j := &journal.Memory{RoundTrip: true}
			var out []string
			prog := func(s *kernel.Scope) error {
				out = nil
				return s.Parallel(4, name, func(i int, s *kernel.Scope) error {
					for n := 0; ; n++ {
						if _, err := eff(s, fmt.Sprint("e", n), rand.N(2*time.Millisecond)); err != nil {
							out = append(out, fmt.Sprintf("%d stopped at %d: %v", i, n, err))
							return err
						}
					}
				})
			}
			time.AfterFunc(10*time.Millisecond, func() { close(cancel) })
			_, err := runWith(t.Context(), kernel.Options{RunID: "r", Journal: j, Cancel: cancel}, prog)
			if !errors.Is(err, kernel.ErrCancelled) || len(out) != 4 {
				t.Fatal(err, out)
			}
			first := out
			st, err := runWith(t.Context(), kernel.Options{RunID: "r", Journal: j, Cancel: cancel}, prog)
			if !errors.Is(err, kernel.ErrCancelled) || st.Performed != 0 {
				t.Fatal(err, st)
			}
			if d := cmp.Diff(first, out); d != "" {
				t.Fatal(d)
			}
		})
	}
}

func TestAParkedRunCanBeCancelled(t *testing.T) {
	j := &journal.Memory{RoundTrip: true}
	prog := func(s *kernel.Scope) error { _, err := kernel.Ask[string](s, kernel.Question{Name: "q"}); return err }
	if _, err := run(j, prog); !errors.Is(err, kernel.ErrInterrupted) {
		t.Fatal(err)
	}
	cancel := make(chan struct{})
	close(cancel)
	for _, c := range []chan struct{}{cancel, nil} {
		if _, err := runWith(t.Context(), kernel.Options{RunID: "r", Journal: j, Cancel: c}, prog); !errors.Is(err, kernel.ErrCancelled) {
			t.Fatal(err)
		}
	}
}

// A guard in one branch stops the others: reads and conditions end, in the
// order in which the waits began, and the same again.
func TestCutByNodeCode(t *testing.T) {
	errStop := errors.New("stop")
	j := &journal.Memory{RoundTrip: true}
	var out []string
	prog := func(s *kernel.Scope) error {
		out = nil
		walk := s.Child("")
		err := walk.Parallel(4, name, func(i int, c *kernel.Scope) (err error) {
			switch i {
			case 0:
				_, err = kernel.Do(c, kernel.Effect[int]{Name: "slow", Class: journal.Read, Delay: time.Hour, Perform: func(context.Context, string) (int, error) { return 0, nil }})
			case 1:
				err = c.Await(func() bool { return false })
			case 2:
				_, err = kernel.Ask[string](c, kernel.Question{Name: "q"})
			case 3:
				_, err = kernel.Do(c, kernel.Effect[int]{Name: "quick", Class: journal.Read, Delay: time.Second, Perform: func(context.Context, string) (int, error) { return 0, nil }})
				walk.Cancel(errStop)
				walk.Cancel(errors.New("a second cut changes nothing"))
				if _, late := eff(c, "late", 0); !errors.Is(late, errStop) {
					t.Error("an effect after the cut:", late)
				}
			}
			out = append(out, fmt.Sprint(i, err))
			return err
		})
		if !errors.Is(err, errStop) {
			t.Error(err)
		}
		_, err = eff(s, "after", 0) // above the cut scope all goes on
		return err
	}
	want := []string{"3 <nil>", "0 stop", "2 stop", "1 stop"}
	for range 2 {
		if _, err := runWith(t.Context(), kernel.Options{RunID: "r", Journal: j, Virtual: true}, prog); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, out); d != "" {
			t.Fatal(d)
		}
	}
}
