package kernel_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

// phases computes for a second n times, with a boundary behind each, and
// returns how many phases were begun.
func phases(s *kernel.Scope, n int) (begun int, err error) {
	for begun < n {
		begun++
		time.Sleep(time.Second) // computes: the scheduler does not run
		if err := s.Boundary("phase", strconv.Itoa(begun)); err != nil {
			return begun, err
		}
	}
	return begun, nil
}

// What ends a run while node code computes ends it before the next phase, and a
// re-run of the journal ends it at the same boundary.
func TestABoundaryEndsACutBranchBeforeItsNextPhase(t *testing.T) {
	for _, tt := range []struct {
		name  string
		end   error
		begun int
		run   func(s *kernel.Scope, f func(*kernel.Scope) error) error
		ask   bool
	}{
		{"a timeout", kernel.ErrTimeout, 3, func(s *kernel.Scope, f func(*kernel.Scope) error) error {
			return s.Timeout("t", 2500*time.Millisecond, f)
		}, false},
		{"a timeout further out", kernel.ErrTimeout, 3, func(s *kernel.Scope, f func(*kernel.Scope) error) error {
			return s.Timeout("t", 2500*time.Millisecond, func(s *kernel.Scope) error { return s.Timeout("u", time.Hour, f) })
		}, false},
		{"a decision to cancel", kernel.ErrCancelled, 2, func(s *kernel.Scope, f func(*kernel.Scope) error) error { return f(s) }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &journal.Memory{RoundTrip: true}
				var got error
				begun := 0
				main := func(s *kernel.Scope) error {
					return tt.run(s, func(s *kernel.Scope) error {
						_, err := eff(s, "e", 0)
						if err == nil {
							begun, err = phases(s, 9)
						}
						got = err
						return err
					})
				}
				o := kernel.Options{RunID: "r", Journal: j}
				if tt.ask {
					asked := make(chan struct{})
					time.AfterFunc(1500*time.Millisecond, func() { close(asked) })
					o.Cancel = asked
				}
				for range 2 {
					begun = 0
					_, err := runWith(t.Context(), o, main)
					if err == nil || !errors.Is(got, tt.end) || begun != tt.begun {
						t.Fatalf("%d phases were begun, and ended with %v, %v", begun, got, err)
					}
					o.Cancel = nil
				}
			})
		})
	}
}

// An effect that is asked for when the time is over is not performed.
func TestNoEffectBeginsWhenTheTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		performed := 0
		j := &journal.Memory{RoundTrip: true}
		main := func(s *kernel.Scope) error {
			return s.Timeout("t", time.Second, func(s *kernel.Scope) error {
				time.Sleep(2 * time.Second)
				return write(s, "w", &performed)
			})
		}
		for range 2 {
			if _, err := run(j, main); !errors.Is(err, kernel.ErrTimeout) || performed != 0 {
				t.Fatalf("%v, %d performed", err, performed)
			}
		}
	})
}

// A session that is to be suspended ends at the boundary, and the next one
// continues behind it.
func TestABoundarySuspendsTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal.Memory{RoundTrip: true}
		begun := 0
		main := func(s *kernel.Scope) (err error) {
			begun, err = phases(s, 4)
			if err == nil {
				_, err = eff(s, "e", 0)
			}
			return err
		}
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		if _, err := runWith(ctx, kernel.Options{RunID: "r", Journal: j}, main); !errors.Is(err, kernel.ErrSuspended) {
			t.Fatal(err)
		}
		if n := len(j.Records); n != 3 || j.Records[1].Path != "phase/2/yield" {
			t.Fatalf("%d records: %+v", n, j.Records)
		}
		for range 2 {
			if _, err := run(j, main); err != nil || begun != 4 {
				t.Fatal(err, begun)
			}
		}
	})
}

// A boundary at which nothing happened leaves no record: journals of versions
// without it are the same.
func TestABoundaryIsNotJournaledWhereNothingHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		record := func(with bool) []journal.Record {
			j := &journal.Memory{RoundTrip: true}
			main := func(s *kernel.Scope) error {
				return s.Parallel(2, name, func(i int, s *kernel.Scope) error {
					limit := time.Minute
					if i == 1 {
						limit = 500 * time.Millisecond // expires beside the other branch
					}
					err := s.Timeout("t", limit, func(s *kernel.Scope) error {
						if _, err := eff(s, "e", time.Duration(i)*time.Hour); err != nil {
							return err
						}
						time.Sleep(time.Second)
						if with {
							if err := s.Boundary("phase"); err != nil {
								return err
							}
						}
						_, err := eff(s, "f", 0)
						return err
					})
					if i == 1 && errors.Is(err, kernel.ErrTimeout) {
						return nil
					}
					return err
				})
			}
			if _, err := run(j, main); err != nil {
				t.Fatal(err)
			}
			return j.Records
		}
		with, without := record(true), record(false)
		path := func(r journal.Record) string { return r.Path }
		same := func(a, b journal.Record) bool { return a.Kind == b.Kind && path(a) == path(b) && a.At == b.At }
		if !slices.EqualFunc(with, without, same) {
			t.Errorf("with boundaries: %+v\nwithout: %+v", with, without)
		}
	})
}

// A Timeout that is extended does not end the branch at its boundary.
func TestABoundaryAllowsMoreTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal.Memory{RoundTrip: true}
		begun := 0
		main := func(s *kernel.Scope) error {
			more := func() (time.Duration, bool) { return time.Hour, true }
			return s.Deadline("t", 1500*time.Millisecond, more, func(s *kernel.Scope) (err error) {
				begun, err = phases(s, 4)
				return err
			})
		}
		for range 2 {
			if _, err := run(j, main); err != nil || begun != 4 {
				t.Fatal(err, begun)
			}
		}
	})
}

// Who follows a run passes its boundaries as the run did.
func TestAFollowerPassesBoundariesAsTheRunDid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal.Memory{}
		begun := 0
		main := func(s *kernel.Scope) error {
			return s.Timeout("t", 2500*time.Millisecond, func(s *kernel.Scope) (err error) {
				begun, err = phases(s, 9)
				return err
			})
		}
		if _, err := run(j, main); !errors.Is(err, kernel.ErrTimeout) {
			t.Fatal(err)
		}
		recs := j.Records
		for held := 1; held < len(recs); held++ {
			rest := recs[held:]
			o := kernel.Options{RunID: "r", Journal: &journal.Memory{Records: recs[:held]}, Follow: func() ([]journal.Record, error) {
				more := rest
				rest = nil
				return more, nil
			}}
			if _, err := runWith(t.Context(), o, main); !errors.Is(err, kernel.ErrTimeout) || begun != 3 {
				t.Errorf("from record %d on: %v after %d phases", held, err, begun)
			}
		}
	})
}
