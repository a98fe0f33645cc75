package kernel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

func answers(path, body string) map[string]json.RawMessage {
	return map[string]json.RawMessage{path: json.RawMessage(body)}
}

var errDisk = errors.New("the disk says no")

// breaking is a journal that fails at its n-th append.
type breaking struct {
	journal.Memory
	left int
}

func (b *breaking) Append(rs []journal.Record) (*journal.Ticket, error) {
	if b.left--; b.left < 0 {
		return nil, fmt.Errorf("append: %w", errDisk)
	}
	return b.Memory.Append(rs)
}

// unread is a journal that cannot be read.
type unread struct{ journal.Memory }

func (*unread) Load() ([]journal.Record, error) { return nil, journal.ErrCorrupt }

// A journal that fails stops the run where it is; it is never a failed effect,
// and with a journal that works again the run goes on.
func TestAFailingJournalEndsTheSessionAndIsNoFailedEffect(t *testing.T) {
	const effects = 5
	for n := range effects + 2 {
		var seen error
		performed := 0
		prog := func(s *kernel.Scope) error {
			for i := range effects {
				_, err := kernel.Do(s, kernel.Effect[int]{Name: fmt.Sprint("e", i), Class: journal.Idempotent, Perform: func(context.Context, string) (int, error) { performed++; return i, nil }})
				if err != nil {
					seen = err
					return err
				}
			}
			return nil
		}
		j := &breaking{left: n}
		_, err := run(j, prog)
		var se *kernel.StoreError
		if done := n > effects; errors.As(err, &se) == done || !done && !errors.Is(err, errDisk) || seen != nil {
			t.Fatalf("append %d failed: %v, node code saw %v", n, err, seen)
		}
		if _, err := run(&j.Memory, prog); err != nil || performed > effects+1 {
			t.Fatal(n, err, performed)
		}
	}
}

func TestAJournalThatCannotBeReadEndsTheSession(t *testing.T) {
	_, err := run(&unread{}, func(*kernel.Scope) error { t.Error("ran"); return nil })
	var se *kernel.StoreError
	if !errors.As(err, &se) || !errors.Is(err, journal.ErrCorrupt) {
		t.Fatal(err)
	}
}

func TestAResultWithoutJSONFormEndsTheRun(t *testing.T) {
	_, err := run(&journal.Memory{RoundTrip: true}, func(s *kernel.Scope) error {
		_, err := kernel.Do(s, kernel.Effect[chan int]{Name: "e", Class: journal.Read, Perform: func(context.Context, string) (chan int, error) { return make(chan int), nil }})
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "result of e has no JSON form") {
		t.Fatal(err)
	}
}

// A write, and what is performed once, begins only when its intent is in the file.
func TestAWriteWaitsForItsCommit(t *testing.T) {
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
			path := fmt.Sprint("e", i)
			e := kernel.Effect[bool]{Name: path, Class: journal.Write, Perform: func(context.Context, string) (bool, error) {
				recs, err := h.Read("r")
				if err != nil || recs[len(recs)-1].Path != path {
					t.Error("performed before its intent was in the file:", path, err)
				}
				return true, nil
			}}
			if i%2 == 1 {
				e.Class, e.AtMostOnce = journal.Read, true
			}
			if _, err := kernel.Do(s, e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestStrictCommitsEveryTickBeforeWorkBegins(t *testing.T) {
	f := openRun(t, journal.Sync)
	st, err := runWith(t.Context(), kernel.Options{RunID: "r", Journal: f, Strict: true}, func(s *kernel.Scope) error {
		for i := range 5 {
			if _, err := eff(s, fmt.Sprint("e", i), 0); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || st.Commits != 6 || st.Performed != 5 {
		t.Fatal(err, st)
	}
}

// An effect that could not begin is performed by the next session, whose limits
// do not pay for the time that the first one tried.
func TestAnUnavailableEffectSuspendsTheSession(t *testing.T) {
	for _, class := range []journal.Class{journal.Read, journal.Idempotent} {
		var clock time.Duration
		tried := 0
		prog := func(s *kernel.Scope, _ []byte) error {
			got, err := kernel.Do(s, kernel.Effect[string]{Name: "e", Class: class, Perform: func(context.Context, string) (string, error) {
				if tried++; tried == 1 {
					clock += time.Hour
					return "", fmt.Errorf("open: %w", &kernel.Unavailable{Err: errDisk})
				}
				return "done", nil
			}})
			if err != nil || got != "done" {
				return fmt.Errorf("node code saw %q, %w", got, err)
			}
			return nil
		}
		j := &journal.Memory{RoundTrip: true}
		o := kernel.Options{RunID: "r", Journal: j, Clock: func() time.Duration { return clock }}
		_, err := kernel.Run(t.Context(), o, prog)
		var unavailable *kernel.Unavailable
		if !errors.As(err, &unavailable) || !errors.Is(err, errDisk) {
			t.Fatal(err)
		}
		stats, err := kernel.Run(t.Context(), o, prog)
		if err != nil || tried != 2 || stats.Active != 0 {
			t.Errorf("%v after %d tries, active for %v", err, tried, stats.Active)
		}
	}
}
