package kernel_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

func openRun(t testing.TB, d journal.Durability) *journal.File {
	t.Helper()
	h, err := journal.OpenHome(t.TempDir(), d)
	if err != nil {
		t.Fatal(err)
	}
	f, err := h.Create("r")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close(); _ = h.Close() })
	return f
}

// told runs a program that emits around its effects.
func told(out *[]string) func(*kernel.Scope) error {
	var busy sync.Mutex
	say := func(s *kernel.Scope, what string) {
		s.Emit(func() {
			if !busy.TryLock() {
				panic("two emits at once")
			}
			defer busy.Unlock()
			*out = append(*out, what)
		})
	}
	return func(s *kernel.Scope) error {
		say(s, "begin")
		err := s.Parallel(3, name, func(i int, s *kernel.Scope) error {
			for n := range 5 {
				say(s, fmt.Sprintf("%d.%d start", i, n))
				if _, err := eff(s, fmt.Sprint("e", n), 0); err != nil {
					return err
				}
				say(s, fmt.Sprintf("%d.%d end", i, n))
			}
			return nil
		})
		say(s, "finish")
		return err
	}
}

func TestEmitsComeInOrderAndOnce(t *testing.T) {
	for label, j := range map[string]journal.Journal{
		"memory": &journal.Memory{}, "paranoid": &journal.Memory{RoundTrip: true},
		"sync": openRun(t, journal.Sync), "async": openRun(t, journal.Async),
	} {
		t.Run(label, func(t *testing.T) {
			var out []string
			if _, err := run(j, told(&out)); err != nil {
				t.Fatal(err)
			}
			if len(out) != 32 || out[0] != "begin" || out[31] != "finish" {
				t.Fatal(out)
			}
			for i := range 3 {
				last := -1
				for n := range 5 {
					for _, what := range []string{"start", "end"} {
						at := slices.Index(out, fmt.Sprintf("%d.%d %s", i, n, what))
						if at <= last {
							t.Fatal(i, n, what, out)
						}
						last = at
					}
				}
			}
			out = nil
			if _, err := run(j, told(&out)); err != nil || len(out) != 0 {
				t.Fatal("a re-run emitted:", err, out)
			}
		})
	}
}

func TestNothingIsToldBeforeItIsDurable(t *testing.T) {
	h, err := journal.OpenHome(t.TempDir(), journal.Sync)
	if err != nil {
		t.Fatal(err)
	}
	f, err := h.Create("r")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = run(f, func(s *kernel.Scope) error {
		for i := range 20 {
			if _, err := eff(s, fmt.Sprint("e", i), 0); err != nil {
				return err
			}
			s.Emit(func() {
				recs, err := h.Read("r")
				if want := 2 + 2*i; err != nil || len(recs) < want { // start, and of each effect intent and result
					t.Errorf("%d records are in the file, want %d: %v", len(recs), want, err)
				}
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A session that stops in good order has told all that it journaled: the next
// one does not tell it again.
func TestEmitsOverAPark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal.Memory{RoundTrip: true}
		var out []string
		prog := func(s *kernel.Scope) error {
			return s.Parallel(2, name, func(i int, s *kernel.Scope) error {
				if i == 0 {
					s.Emit(func() { out = append(out, "asking") })
					_, err := kernel.Ask[bool](s, kernel.Question{Name: "q"})
					s.Emit(func() { out = append(out, "answered") })
					return err
				}
				_, err := eff(s, "e", time.Minute)
				s.Emit(func() { out = append(out, "worked") })
				return err
			})
		}
		if _, err := run(j, prog); !errors.Is(err, kernel.ErrInterrupted) || !slices.Equal(out, []string{"asking", "worked"}) {
			t.Fatal(err, out)
		}
		out = nil
		o := kernel.Options{RunID: "r", Journal: j, Answers: answers("b.0/q", `true`)}
		if _, err := runWith(t.Context(), o, prog); err != nil || !slices.Equal(out, []string{"answered"}) {
			t.Fatal(err, out)
		}
	})
}

func TestReplayingEndsWithTheJournal(t *testing.T) {
	j := &journal.Memory{RoundTrip: true}
	var seen []bool
	prog := func(s *kernel.Scope) error {
		seen = nil
		for i := range 3 {
			seen = append(seen, s.Replaying())
			if _, err := eff(s, fmt.Sprint("e", i), 0); err != nil {
				return err
			}
		}
		return nil
	}
	if _, err := run(j, prog); err != nil || slices.Contains(seen, true) {
		t.Fatal(err, seen)
	}
	j.Records = j.Records[:5] // two whole effects
	if _, err := run(j, prog); err != nil || !slices.Equal(seen, []bool{true, true, false}) {
		t.Fatal(err, seen)
	}
	if _, err := run(j, prog); err != nil || slices.Contains(seen, false) {
		t.Fatal(err, seen)
	}
}
