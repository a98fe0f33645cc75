package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/kernel"
)

func TestScopeMistakesArePanicsWithNames(t *testing.T) {
	for want, prog := range map[string]func(*kernel.Scope) error{
		"path used twice: a": func(s *kernel.Scope) error { eff(s, "a", 0); eff(s, "a", 0); return nil },
		"scope used outside its branch": func(s *kernel.Scope) error {
			return s.Parallel(2, name, func(i int, _ *kernel.Scope) error { eff(s, "x", 0); return nil })
		},
	} {
		if _, err := run(&journal.Memory{}, prog); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestPathsKeysAndIDs(t *testing.T) {
	var ids []string
	prog := func(s *kernel.Scope) error {
		c := s.Child("a").Child("").Child("b")
		key, err := eff(c, "e", 0)
		if s.Path() != "" || c.Path() != "a/b" || key != "r/a/b/e" {
			t.Error(s.Path(), c.Path(), key)
		}
		ids = append(ids, s.ID("x"), c.ID("x"), c.ID("y"))
		return err
	}
	j := &journal.Memory{}
	for range 2 {
		if _, err := run(j, prog); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := runWith(t.Context(), kernel.Options{RunID: "r", Journal: &journal.Memory{}}, prog); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(ids[:3], ids[3:6]) || len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 3 || len(ids[0]) != 32 {
		t.Fatal(ids)
	}
}

// ctxKey is a key of a value that callers pass through.
type ctxKey struct{}

func TestEffectsSeeTheCallersValuesAndDeriveContexts(t *testing.T) {
	ctx := context.WithValue(t.Context(), ctxKey{}, "v")
	_, err := runWith(ctx, kernel.Options{Journal: &journal.Memory{}}, func(s *kernel.Scope) error {
		if s.Context().Value(ctxKey{}) != "v" {
			t.Error("no value")
		}
		_, err := kernel.Do(s, kernel.Effect[bool]{Name: "e", Class: journal.Read, Perform: func(ctx context.Context, _ string) (bool, error) {
			below, cancel := context.WithCancel(ctx)
			cancel()
			return below.Value(ctxKey{}) == "v", ctx.Err()
		}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestErrorsOfBranchesAreJoined(t *testing.T) {
	first, second := errors.New("first"), errors.New("second")
	_, err := run(&journal.Memory{}, func(s *kernel.Scope) error {
		if err := s.Parallel(0, name, nil); err != nil {
			return err
		}
		return s.Parallel(3, name, func(i int, s *kernel.Scope) error { return []error{first, nil, second}[i] })
	})
	if !errors.Is(err, first) || !errors.Is(err, second) {
		t.Fatal(err)
	}
}

func TestDriftIsNamedByClass(t *testing.T) {
	step := func(s *kernel.Scope, n string, class journal.Class, d string) {
		_, _ = kernel.Do(s, kernel.Effect[int]{Name: n, Class: class, Digest: digest(d), Perform: func(context.Context, string) (int, error) { return 1, nil }})
	}
	recorded := func(s *kernel.Scope) error {
		step(s, "a", journal.Read, "1")
		step(s, "b", journal.Read, "1")
		step(s, "c", journal.Read, "1")
		return nil
	}
	for label, row := range map[string]struct {
		prog  func(*kernel.Scope) error
		class kernel.DriftClass
		path  string
	}{
		"other request": {func(s *kernel.Scope) error { step(s, "a", journal.Read, "2"); return nil }, kernel.DriftRequest, "a"},
		"other class":   {func(s *kernel.Scope) error { step(s, "a", journal.Write, "1"); return nil }, kernel.DriftRequest, "a"},
		"other order":   {func(s *kernel.Scope) error { step(s, "b", journal.Read, "1"); return nil }, kernel.DriftOrder, "b"},
		"extra effect": {func(s *kernel.Scope) error {
			step(s, "a", journal.Read, "1")
			step(s, "new", journal.Read, "1")
			return nil
		}, kernel.DriftExtra, "new"},
		"extra at the end": {func(s *kernel.Scope) error { _ = recorded(s); step(s, "d", journal.Read, "1"); return nil }, kernel.DriftExtra, "d"},
		"ends early":       {func(s *kernel.Scope) error { step(s, "a", journal.Read, "1"); return nil }, kernel.DriftMissing, "b"},
		"waits instead": {func(s *kernel.Scope) error {
			step(s, "a", journal.Read, "1")
			return s.Await(func() bool { return false })
		}, kernel.DriftMissing, "b"},
		"caught by nobody": {func(s *kernel.Scope) error {
			return s.Parallel(2, name, func(int, *kernel.Scope) error { return nil })
		}, kernel.DriftMissing, "a"},
	} {
		t.Run(label, func(t *testing.T) {
			j := &journal.Memory{}
			if _, err := run(j, recorded); err != nil {
				t.Fatal(err)
			}
			before := len(j.Records)
			_, err := run(j, row.prog)
			var d *kernel.Drift
			if !errors.As(err, &d) || d.Class != row.class || d.Path != row.path || len(j.Records) != before {
				t.Fatalf("%v (%d new records)", err, len(j.Records)-before)
			}
		})
	}
	t.Run("another run", func(t *testing.T) {
		j := &journal.Memory{}
		if _, err := run(j, recorded); err != nil {
			t.Fatal(err)
		}
		var d *kernel.Drift
		if _, err := runWith(t.Context(), kernel.Options{RunID: "other", Journal: j}, recorded); !errors.As(err, &d) || d.Class != kernel.DriftRun {
			t.Fatal(err)
		}
		if _, err := runWith(t.Context(), kernel.Options{Journal: j}, recorded); err != nil {
			t.Fatal("no id is the journal's:", err)
		}
	})
}

func TestWhatAJournalOmits(t *testing.T) {
	step := func(s *kernel.Scope, n string) {
		_, _ = kernel.Do(s, kernel.Effect[int]{Name: n, Class: journal.Read, Digest: digest("1"), Perform: func(context.Context, string) (int, error) { return 1, nil }})
	}
	j := &journal.Memory{}
	var live, again, killed []bool
	prog := func(told *[]bool) func(*kernel.Scope) error {
		return func(s *kernel.Scope) error {
			ask := func(names ...string) {
				for _, n := range names {
					*told = append(*told, s.Omits(n))
				}
			}
			ask("turn.1", "turn.2", "turn.3")
			step(s.Child("turn.1"), "model")
			ask("turn.1", "turn.2", "turn.3")
			step(s.Child("turn.2"), "model")
			ask("turn.3")
			return nil
		}
	}
	for _, told := range []*[]bool{&live, &again} {
		if _, err := run(j, prog(told)); err != nil {
			t.Fatal(err)
		}
	}
	if want := make([]bool, 7); !slices.Equal(live, want) {
		t.Errorf("live: %v, want %v: nothing is known of a journal that is at its end", live, want)
	}
	if want := []bool{false, false, true, true, false, true, true}; !slices.Equal(again, want) {
		t.Errorf("run again: %v, want %v", again, want)
	}
	j.Records = j.Records[:len(j.Records)-1] // the session was killed before its end
	if _, err := run(j, prog(&killed)); err != nil {
		t.Fatal(err)
	}
	if want := []bool{false, false, true, true, false, true, false}; !slices.Equal(killed, want) {
		t.Errorf("of a session that was killed: %v, want %v", killed, want)
	}
}

// Next looks for a request: the result of one that is under way is none.
func TestWhatAJournalGoesOnWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal.Memory{RoundTrip: true}
		var seen []bool
		prog := func(s *kernel.Scope) error {
			seen = []bool{s.Next("b.0/a"), s.Next("b.1/e")}
			return s.Parallel(2, name, func(i int, c *kernel.Scope) error {
				if i == 1 {
					_, err := eff(c, "e", time.Minute)
					return err
				}
				_, err := eff(c, "a", time.Second)
				seen = append(seen, s.Next("b.1/e"))
				return err
			})
		}
		for _, want := range [][]bool{{false, false, false}, {true, false, false}} {
			if _, err := run(j, prog); err != nil || !slices.Equal(seen, want) {
				t.Fatal(err, seen, want)
			}
		}
	})
}

func TestRequestsAreMadeWhenAppendedAndToldWhenRecorded(t *testing.T) {
	j := &journal.Memory{RoundTrip: true}
	made, told := 0, []string{}
	prog := func(s *kernel.Scope) error {
		for i := range 3 {
			if _, err := kernel.Do(s, kernel.Effect[int]{
				Name: fmt.Sprint("e", i), Class: journal.Read,
				Request:  func() []byte { made++; return fmt.Appendf(nil, `{"n":%d}`, i) },
				OnReplay: func(b []byte) { told = append(told, string(b)) },
				Perform:  func(context.Context, string) (int, error) { return i, nil },
			}); err != nil {
				return err
			}
		}
		return nil
	}
	for range 2 {
		if _, err := run(j, prog); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff([]string{`{"n":0}`, `{"n":1}`, `{"n":2}`}, told); d != "" || made != 3 {
		t.Fatal(d, made)
	}
}
