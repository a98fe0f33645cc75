package journal_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/pexctl/pex/engine/journal"
)

func TestARemovedRunIsGoneAndItsNameIsFree(t *testing.T) {
	dir := t.TempDir()
	h := home(t, dir, journal.Exit)
	closedRun(t, h, "r")
	closedRun(t, h, "other")
	if err := h.Remove("r"); err != nil {
		t.Fatal(err)
	}
	for how, err := range map[string]error{"again": h.Remove("r"), "never": h.Remove("none")} {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", how, err)
		}
	}
	if _, err := h.Read("r"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if ids, err := h.List(); err != nil || !slices.Equal(ids, []string{"other"}) {
		t.Error(ids, err)
	}
	entries, _ := os.ReadDir(filepath.Join(dir, "runs"))
	if len(entries) != 2 { // the journal and the index
		t.Error("something was left:", entries)
	}
	closedRun(t, h, "r")
}

func TestAHeldRunIsNotRemoved(t *testing.T) {
	h := home(t, t.TempDir(), journal.Exit)
	f, err := h.Create("r")
	if err != nil {
		t.Fatal(err)
	}
	appended(t, f, start)
	var held *journal.InUseError
	if err := h.Remove("r"); !errors.As(err, &held) || held.PID != os.Getpid() {
		t.Fatal(err)
	}
	appended(t, f, journal.Record{Seq: 2, Kind: journal.Marker})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.Remove("r"); err != nil {
		t.Fatal(err)
	}
}

func TestSweepFinishesWhatWasCutShort(t *testing.T) {
	dir := t.TempDir()
	h := home(t, dir, journal.Exit)
	closedRun(t, h, "a")
	closedRun(t, h, "b")
	trash := filepath.Join(dir, "runs", ".removed-1")
	b, _ := os.ReadFile(h.File("a"))
	if err := errors.Join(h.Remove("a"), os.Mkdir(trash, 0o700), os.WriteFile(filepath.Join(trash, "a.jsonl"), b, 0o600)); err != nil {
		t.Fatal(err)
	}
	if ids, err := h.List(); err != nil || !slices.Equal(ids, []string{"b"}) {
		t.Fatal(ids, err)
	}
	for _, look := range []bool{true, true, false} {
		if n, err := h.Sweep(look); err != nil || n < 100 {
			t.Fatal(n, err)
		}
	}
	if n, err := h.Sweep(false); err != nil || n != 0 {
		t.Fatal(n, err)
	}
	if _, err := h.Read("b"); err != nil {
		t.Fatal(err)
	}
}

// Sessions and removals side by side on one id: each session finds its own
// records and no one else's.
func TestRemovalAndSessionsDoNotMix(t *testing.T) {
	for _, d := range []journal.Durability{journal.Exit, journal.Async} {
		t.Run(string(d), func(t *testing.T) { removeAndCreate(t, home(t, t.TempDir(), d)) })
	}
}

func removeAndCreate(t *testing.T, h *journal.Home) {
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for range 100 {
				if worker%2 == 0 {
					if err := h.Remove("r"); err != nil && !errors.Is(err, fs.ErrNotExist) && !isHeld(err) {
						t.Error("remove:", err)
					}
					continue
				}
				f, err := h.Create("r")
				var exists *journal.ExistsError
				if errors.As(err, &exists) || isHeld(err) || errors.Is(err, fs.ErrNotExist) {
					continue
				}
				if err != nil {
					t.Error("create:", err)
					continue
				}
				appended(t, f, start)
				if recs, err := f.Load(); err != nil || len(recs) != 1 {
					t.Error("load:", len(recs), err)
				}
				if err := f.Close(); err != nil {
					t.Error("close:", err)
				}
			}
		})
	}
	wg.Wait()
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if err := h.Remove("r"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	closedRun(t, h, "r")
}

func isHeld(err error) bool {
	var held *journal.InUseError
	return errors.As(err, &held)
}

func TestStatSaysWhereARunStands(t *testing.T) {
	dir := t.TempDir()
	h := home(t, dir, journal.Exit)
	if _, err := h.Stat("r"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	f, err := h.Create("r")
	if err != nil {
		t.Fatal(err)
	}
	appended(t, f, start)
	if st, err := h.Stat("r"); err != nil || !st.Open || st.PID != os.Getpid() || st.Ended || st.Records != 1 {
		t.Fatalf("%+v %v", st, err)
	}
	appended(t, f, journal.Record{Seq: 2, Kind: journal.End})
	f.Close()
	st, err := h.Stat("r")
	if err != nil || st.Open || !st.Ended || st.Changed.IsZero() || st.Bytes < 100 {
		t.Fatalf("%+v %v", st, err)
	}
	if err := os.Truncate(h.File("r"), 20); err != nil {
		t.Fatal(err)
	}
	if st, err := h.Stat("r"); err != nil || !errors.Is(st.ReadError, journal.ErrCorrupt) || st.Ended {
		t.Fatalf("%+v %v", st, err)
	}
}
