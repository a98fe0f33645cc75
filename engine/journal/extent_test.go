package journal_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pexctl/pex/engine/journal"
)

// killed is a home with a run r whose session wrote records and was killed, and
// the bytes of its journal.
func killed(t *testing.T, recs []journal.Record) (*journal.Home, []byte) {
	t.Helper()
	from, to := t.TempDir(), t.TempDir()
	f := created(t, home(t, from, journal.Sync))
	for i := range recs {
		appended(t, f, recs[i])
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	ended(t, f)
	h := home(t, to, journal.Sync)
	b, err := os.ReadFile(filepath.Join(h.Folder("r"), "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return h, b
}

func lastLineAt(b []byte) int { return bytes.LastIndexByte(b[:len(b)-1], '\n') + 1 }

// A killed session leaves no head. What its journal lost is known all the same:
// the run is listed, named as damaged, and neither resumed nor begun again.
func TestDamageAfterAKillIsNamed(t *testing.T) {
	recs := records(t)
	damages := map[string]func(path string, b []byte) error{
		"emptied":               func(path string, _ []byte) error { return os.Truncate(path, 0) },
		"zero-filled":           func(path string, b []byte) error { return os.WriteFile(path, make([]byte, len(b)), 0o600) },
		"deleted":               func(path string, _ []byte) error { return os.Remove(path) },
		"without its last line": func(path string, b []byte) error { return os.Truncate(path, int64(lastLineAt(b))) },
		"cut in its last line":  func(path string, b []byte) error { return os.Truncate(path, int64(len(b)-10)) },
		"cut in its first line": func(path string, _ []byte) error { return os.Truncate(path, 20) },
		"its first line alone":  func(path string, b []byte) error { return os.Truncate(path, int64(bytes.IndexByte(b, '\n')+1)) },
		"another text":          func(path string, _ []byte) error { return os.WriteFile(path, []byte("what is this"), 0o600) },
		"zeros behind its start": func(path string, b []byte) error {
			return os.WriteFile(path, append(b[:30:30], make([]byte, 500)...), 0o600)
		},
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			h, b := killed(t, recs)
			if err := damage(filepath.Join(h.Folder("r"), "journal.jsonl"), b); err != nil {
				t.Fatal(err)
			}
			if ids, err := h.List(); err != nil || !slices.Equal(ids, []string{"r"}) {
				t.Errorf("listed: %q, %v", ids, err)
			}
			if _, err := h.Read("r"); !errors.Is(err, journal.ErrCorrupt) {
				t.Errorf("read: %v", err)
			}
			if _, err := h.Open("r"); !errors.Is(err, journal.ErrCorrupt) {
				t.Errorf("opened: %v", err)
			}
			if _, err := h.Create("r"); !errors.Is(err, journal.ErrCorrupt) {
				t.Errorf("created again: %v", err)
			}
			found, err := h.Check("r")
			if err != nil || len(found) != 1 || !found[0].Damage {
				t.Errorf("checked: %+v, %v", found, err)
			}
		})
	}
}

// A zero-filled file is damage also where no witness is left.
func TestAFileWithoutARecordIsDamageWithoutAWitness(t *testing.T) {
	h := home(t, t.TempDir(), journal.Sync)
	f := created(t, h)
	ended(t, f)
	path := filepath.Join(h.Folder("r"), "journal.jsonl")
	if err := os.WriteFile(path, make([]byte, 300), 0o600); err != nil {
		t.Fatal(err)
	}
	if ids, _ := h.List(); !slices.Equal(ids, []string{"r"}) {
		t.Errorf("listed: %q", ids)
	}
	if _, err := h.Create("r"); !errors.Is(err, journal.ErrCorrupt) {
		t.Errorf("created: %v", err)
	}
}

// What a kill before the first commit leaves is no run: its id is free.
func TestATornFirstLineIsNoRun(t *testing.T) {
	b, _ := sample(t)
	for _, n := range []int{0, 1, 4, 5, 6, 40, bytes.IndexByte(b, '\n') - 1} {
		h := home(t, t.TempDir(), journal.Sync)
		leave(t, filepath.Dir(filepath.Dir(h.Folder("r"))), "r", b[:n])
		if ids, _ := h.List(); len(ids) > 0 {
			t.Errorf("%d bytes: listed", n)
		}
		ended(t, created(t, h))
	}
}

// A witness that is older than the journal, damaged, another run's or that of an
// earlier version accuses nobody.
func TestAWitnessThatSaysLessAccusesNoJournal(t *testing.T) {
	recs := records(t)
	old, _ := killed(t, recs[:1])
	older, err := os.ReadFile(filepath.Join(old.Folder("r"), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	h, _ := killed(t, recs)
	path := filepath.Join(h.Folder("r"), "lock")
	lock, err := os.ReadFile(path)
	if err != nil || len(lock) < 60 {
		t.Fatal(len(lock), err)
	}
	cases := map[string][]byte{
		"older": older, "none": lock[:11], "empty": {}, "half": lock[:40], "zeros": make([]byte, len(lock)),
	}
	for i := range lock[11:] {
		b := bytes.Clone(lock)
		b[11+i] ^= 1
		cases["flip"+string(rune('A'+i))] = b
	}
	for name, b := range cases {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := h.Read("r"); err != nil || len(got) != len(recs) {
			t.Errorf("%s: %d records, %v", name, len(got), err)
		}
	}
}

func TestTheWitnessOfAnotherRunSaysNothing(t *testing.T) {
	recs := records(t)
	h, b := killed(t, recs)
	leave(t, filepath.Dir(filepath.Dir(h.Folder("r"))), "other", b[:lastLineAt(b)])
	lock, err := os.ReadFile(filepath.Join(h.Folder("r"), "lock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.Folder("other"), "lock"), lock, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := h.Read("other"); err != nil || len(got) != len(recs)-1 {
		t.Errorf("%d records, %v", len(got), err)
	}
}

// A repair accepts the loss: afterwards the run is whole, and is killed and
// damaged again like any other.
func TestARepairAfterAKillMovesTheWitnessBack(t *testing.T) {
	recs := records(t)
	h, b := killed(t, recs)
	path := filepath.Join(h.Folder("r"), "journal.jsonl")
	if err := os.Truncate(path, int64(lastLineAt(b))); err != nil {
		t.Fatal(err)
	}
	r, err := h.Repair("r")
	if err != nil || r.Kept != len(recs)-1 || r.Lost != uint64(len(recs)) {
		t.Fatalf("%+v, %v", r, err)
	}
	if found, err := h.Check("r"); err != nil || len(found) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
	f, err := h.Open("r")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := f.Load(); err != nil || len(got) != len(recs)-1 {
		t.Fatal(len(got), err)
	}
	ended(t, f)
}

// Under async what is not synced may be lost by a power loss, so only synced
// records have a witness.
func TestAnUnsyncedRecordHasNoWitness(t *testing.T) {
	recs := records(t)
	dir := t.TempDir()
	h := home(t, dir, journal.Exit)
	f := created(t, h)
	appended(t, f, recs...)
	if lock, err := os.ReadFile(filepath.Join(h.Folder("r"), "lock")); err != nil || len(lock) > 11 {
		t.Errorf("%q, %v", lock, err)
	}
	ended(t, f)
}
