package journal_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/regular"
)

// oldHome is a home of an earlier version, with a folder per run: "ended" has a head,
// "killed" only the extent in its lock file.
func oldHome(t *testing.T) *journal.Home {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/oldlayout/home")); err != nil {
		t.Fatal(err)
	}
	return home(t, dir, journal.Sync)
}

func TestRunsInFoldersAreRead(t *testing.T) {
	h := oldHome(t)
	if ids, err := h.List(); err != nil || !slices.Equal(ids, []string{"ended", "killed"}) {
		t.Fatal(ids, err)
	}
	for id, want := range map[string]int{"ended": 5, "killed": 17} {
		recs, err := h.Read(id)
		if err != nil || len(recs) != want {
			t.Errorf("%s: %d records, %v", id, len(recs), err)
		}
		if st, err := h.Stat(id); err != nil || st.Records != want || st.Open || st.Bytes < 500 || st.Changed.IsZero() {
			t.Errorf("%s: %+v, %v", id, st, err)
		}
		if found, err := h.Check(id); err != nil || len(found) > 0 {
			t.Errorf("%s: %+v, %v", id, found, err)
		}
		if filepath.Base(h.File(id)) != "journal.jsonl" {
			t.Errorf("%s: moved by reading", id)
		}
		var exists *journal.ExistsError
		if _, err := h.Create(id); !errors.As(err, &exists) {
			t.Errorf("%s: %v", id, err)
		}
	}
	if head, err := oldHome(t).Head("ended"); err != nil || head.Seq != 5 || head.Stale || string(head.Summary) != `{"status":"completed"}` {
		t.Errorf("%+v, %v", head, err)
	}
}

func TestARunInAFolderIsMovedWhenItIsOpened(t *testing.T) {
	for id, want := range map[string]int{"ended": 5, "killed": 17} {
		h := oldHome(t)
		before, err := h.Snapshot(id)
		if err != nil {
			t.Fatal(err)
		}
		f, err := h.Open(id)
		if err != nil {
			t.Fatal(err)
		}
		if recs, err := f.Load(); err != nil || len(recs) != want {
			t.Errorf("%s: %d records, %v", id, len(recs), err)
		}
		if head, err := h.Head(id); err != nil || int(head.Seq) != want || (head.Summary == nil) != (id == "killed") {
			t.Errorf("%s: %+v, %v", id, head, err)
		}
		if _, err := os.Stat(h.Folder(id)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: its folder is left: %v", id, err)
		}
		if b, _ := os.ReadFile(h.File(id)); string(b) != string(before.Journal) || filepath.Base(h.File(id)) != id+".jsonl" {
			t.Errorf("%s: %s differs", id, h.File(id))
		}
		appended(t, f, journal.Record{Seq: uint64(want + 1), Kind: journal.Marker})
		ended(t, f)
		if recs, err := h.Read(id); err != nil || len(recs) != want+1 {
			t.Errorf("%s: %d records, %v", id, len(recs), err)
		}
		if err := h.Remove(id); err != nil {
			t.Error(err)
		}
		if _, err := h.Read(id); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// Other files in the folder stay, and so do those of a kill in the middle of a move.
func TestAMoveThatWasCutShort(t *testing.T) {
	h := oldHome(t)
	if err := errors.Join(
		os.Rename(h.File("killed"), filepath.Join(filepath.Dir(h.Folder("killed")), "killed.jsonl")),
		os.WriteFile(filepath.Join(h.Folder("killed"), journal.LogFile), []byte("log"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	if ids, err := h.List(); err != nil || !slices.Equal(ids, []string{"ended", "killed"}) {
		t.Error(ids, err)
	}
	if found, err := h.Check("killed"); err != nil || len(found) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
	f, err := h.Open("killed")
	if err != nil {
		t.Fatal(err)
	}
	ended(t, f)
	if b, _ := os.ReadFile(filepath.Join(h.Folder("killed"), journal.LogFile)); string(b) != "log" {
		t.Errorf("%q", b)
	}
}

func TestDamageOfARunInAFolderIsNamed(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"gone":    os.Remove,
		"cut":     func(path string) error { return os.Truncate(path, 600) },
		"emptied": func(path string) error { return os.Truncate(path, 0) },
	} {
		for _, id := range []string{"ended", "killed"} {
			h := oldHome(t)
			path := h.File(id)
			if err := damage(path); err != nil {
				t.Fatal(err)
			}
			if ids, err := h.List(); err != nil || !slices.Equal(ids, []string{"ended", "killed"}) {
				t.Error(name, ids, err)
			}
			_, read := h.Read(id)
			_, open := h.Open(id)
			_, create := h.Create(id)
			for how, err := range map[string]error{"read": read, "open": open, "create": create} {
				if !errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), id) {
					t.Errorf("%s %s: %s: %v", id, name, how, err)
				}
			}
			switch r, err := h.Repair(id); {
			case name != "cut" && err == nil:
				t.Errorf("%s %s: repaired: %+v", id, name, r)
			case name == "cut" && (err != nil || r.Kept == 0 || r.Lost == 0):
				t.Errorf("%s %s: %+v, %v", id, name, r, err)
			}
			if err := h.Remove(id); err != nil {
				t.Error(err)
			}
			if _, err := h.Read(id); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s %s: removed: %v", id, name, err)
			}
		}
	}
}

// An earlier version of the program that executes a run keeps it.
func TestARunInAFolderThatIsOpenIsLeftAlone(t *testing.T) {
	h := oldHome(t)
	lock, err := os.OpenFile(filepath.Join(h.Folder("killed"), "lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if locked, err := regular.TryLock(lock); !locked {
		t.Fatal(err)
	}
	for how, err := range map[string]error{
		"open":   func() error { _, err := h.Open("killed"); return err }(),
		"remove": h.Remove("killed"),
		"repair": func() error { _, err := h.Repair("killed"); return err }(),
	} {
		if !isHeld(err) {
			t.Errorf("%s: %v", how, err)
		}
	}
	lock.Close()
	if err := h.Remove("killed"); err != nil {
		t.Error(err)
	}
}
