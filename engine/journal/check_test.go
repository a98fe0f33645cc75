package journal_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/journal"
)

func TestCheckNamesPlaceAndRemedy(t *testing.T) {
	dir := t.TempDir()
	h := home(t, dir, journal.Exit)
	for _, id := range []string{"fine", "flipped", "gone", "headless", "stray"} {
		closedRun(t, h, id)
	}
	at := func(run, file string) string { return filepath.Join(h.Folder(run), file) }
	b, _ := os.ReadFile(at("flipped", "journal.jsonl"))
	b[place(b, 3)+2] ^= 1
	if err := errors.Join(
		os.WriteFile(at("flipped", "journal.jsonl"), b, 0o600),
		os.Remove(at("gone", "journal.jsonl")),
		os.Remove(at("headless", "run.json")),
		os.WriteFile(at("stray", "notes.txt"), nil, 0o600),
		os.WriteFile(at("stray", "journal.jsonl.damaged-1"), nil, 0o600),
		os.WriteFile(filepath.Join(dir, "runs", "notes"), nil, 0o600),
		os.Mkdir(filepath.Join(dir, "runs", ".removed-7"), 0o700),
		os.Mkdir(filepath.Join(dir, "runs", "notbegun"), 0o700),
	); err != nil {
		t.Fatal(err)
	}
	var got []journal.Finding
	if err := h.CheckAll(func(f journal.Finding) bool { got = append(got, f); return true }); err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i].What == "" {
			t.Error("a finding says nothing:", got[i])
		}
		got[i].What = ""
	}
	want := []journal.Finding{
		{File: filepath.Join(dir, "runs", ".removed-7"), Remedy: journal.BySweep},
		{Run: "flipped", File: at("flipped", "journal.jsonl"), Line: 4, Byte: place(b, 3), Remedy: journal.ByRepair, Damage: true},
		{Run: "gone", File: at("gone", "journal.jsonl"), Remedy: journal.ByRestore, Damage: true},
		{File: filepath.Join(dir, "runs", "notes"), Remedy: journal.ByInspector},
		{Run: "stray", File: at("stray", "notes.txt"), Remedy: journal.ByInspector},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Fatal(d)
	}
	n := 0
	if err := h.CheckAll(func(journal.Finding) bool { n++; return false }); err != nil || n != 1 {
		t.Fatal("yield said enough:", n, err)
	}
	if _, err := h.Check("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

// Check changes nothing, and looks at a run that someone has open.
func TestCheckOnlyLooks(t *testing.T) {
	h := home(t, t.TempDir(), journal.Sync)
	f, err := h.Create("r")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	appended(t, f, start)
	path := filepath.Join(h.Folder("r"), "journal.jsonl")
	b, _ := os.ReadFile(path)
	torn := append(bytes.Clone(b), `{"v":1,"seq":2`...)
	if err := os.WriteFile(path, torn, 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := h.Check("r"); err != nil || len(found) > 0 {
		t.Fatal(found, err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(after, torn) {
		t.Fatal("the torn line was touched")
	}
}

func TestASnapshotIsARunElsewhere(t *testing.T) {
	h := home(t, t.TempDir(), journal.Sync)
	want := closedRun(t, h, "r")
	f, _ := load(t, h, "r") // under way again
	defer f.Close()
	appended(t, f, journal.Record{Seq: 6, Kind: journal.Marker})
	file, err := os.OpenFile(filepath.Join(h.Folder("r"), "journal.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
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
	if head, err := there.Head("r"); err != nil || head.Seq != 5 {
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
	if err := os.Truncate(filepath.Join(h.Folder("r"), "journal.jsonl"), 30); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Snapshot("r"); !errors.Is(err, journal.ErrCorrupt) {
		t.Fatal(err)
	}
	if ids, _ := h.List(); !slices.Equal(ids, []string{"r"}) {
		t.Fatal(ids)
	}
}
