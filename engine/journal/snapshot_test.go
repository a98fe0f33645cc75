package journal_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/pexctl/pex/engine/journal"
)

func TestASnapshotIsARunElsewhere(t *testing.T) {
	h := home(t, t.TempDir(), journal.Sync)
	want := closedRun(t, h, "r")
	f, _ := load(t, h, "r") // under way again
	defer f.Close()
	appended(t, f, journal.Record{Seq: 6, Kind: journal.Marker})
	file, err := os.OpenFile(h.File("r"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	file.WriteString(`{"v":1,"se`) // in the middle of a write
	file.Close()
	s, err := h.Snapshot("r")
	if err != nil {
		t.Fatal(err)
	}
	there := home(t, t.TempDir(), journal.Sync)
	if err := there.Adopt(s); err != nil {
		t.Fatal(err)
	}
	recs, err := there.Read("r")
	if err != nil {
		t.Fatal(err)
	}
	same(t, recs[:5], want)
	st, err := there.Stat("r")
	if err != nil || len(recs) != 6 || !st.Changed.Equal(s.Changed) {
		t.Fatal(len(recs), st, err)
	}
	if head, err := there.Head("r"); err != nil || head.Seq != 6 {
		t.Fatal(head, err)
	}
	var exists *journal.ExistsError
	if err := there.Adopt(s); !errors.As(err, &exists) {
		t.Fatal(err)
	}
}

func TestADamagedSnapshotIsNotAdopted(t *testing.T) {
	h := home(t, t.TempDir(), journal.Exit)
	closedRun(t, h, "r")
	whole, err := h.Snapshot("r")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(s *journal.Snapshot){
		"line lost":    func(s *journal.Snapshot) { s.Journal = s.Journal[:lastLine(s.Journal)] },
		"torn":         func(s *journal.Snapshot) { s.Head, s.Journal = nil, s.Journal[:len(s.Journal)-5] },
		"empty":        func(s *journal.Snapshot) { s.Head, s.Journal = nil, nil },
		"flipped":      func(s *journal.Snapshot) { s.Journal[len(s.Journal)/2] ^= 1 },
		"head flipped": func(s *journal.Snapshot) { s.Head[3] ^= 1 },
		"another id":   func(s *journal.Snapshot) { s.Run = "q" },
		"no id":        func(s *journal.Snapshot) { s.Run = "../q" },
	} {
		t.Run(name, func(t *testing.T) {
			s := whole
			s.Journal, s.Head = bytes.Clone(s.Journal), bytes.Clone(s.Head)
			change(&s)
			there := home(t, t.TempDir(), journal.Exit)
			if err := there.Adopt(s); err == nil {
				t.Fatal("it was adopted")
			}
			if ids, _ := there.List(); len(ids) > 0 {
				t.Fatal(ids)
			}
		})
	}
	if _, err := h.Snapshot("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.Truncate(h.File("r"), 30); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Snapshot("r"); !errors.Is(err, journal.ErrCorrupt) {
		t.Fatal(err)
	}
	if ids, _ := h.List(); !slices.Equal(ids, []string{"r"}) {
		t.Fatal(ids)
	}
}

// While a run is written, each snapshot of it is whole, and none is shorter
// than what was durable before it was taken.
func TestSnapshotsOfARunUnderWay(t *testing.T) {
	h := home(t, t.TempDir(), journal.Exit)
	f, err := h.Create("r")
	if err != nil {
		t.Fatal(err)
	}
	appended(t, f, start)
	var mu sync.Mutex
	durable := 1
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := range 500 {
			appended(t, f, journal.Record{Seq: uint64(i + 2), Kind: journal.Marker})
			mu.Lock()
			durable++
			mu.Unlock()
		}
	})
	for range 100 {
		mu.Lock()
		before := durable
		mu.Unlock()
		s, err := h.Snapshot("r")
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(s.Journal, []byte("\n")); s.Verify() != nil || n < before {
			t.Errorf("%d records of %d: %v", n, before, s.Verify())
		}
	}
	wg.Wait()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
