package journal_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/engine/journal"
)

func TestCheckNamesPlaceAndRemedy(t *testing.T) {
	dir := t.TempDir()
	h := home(t, dir, journal.Exit)
	for _, id := range []string{"fine", "flipped", "gone", "stray"} {
		closedRun(t, h, id)
	}
	b, _ := os.ReadFile(h.File("flipped"))
	b[place(b, 3)+2] ^= 1
	if err := errors.Join(
		os.WriteFile(h.File("flipped"), b, 0o600),
		os.Remove(h.File("gone")),
		os.Mkdir(h.Folder("stray"), 0o700),
		os.WriteFile(filepath.Join(h.Folder("stray"), "notes.txt"), nil, 0o600),
		os.WriteFile(filepath.Join(h.Folder("stray"), "journal.jsonl.damaged-1"), nil, 0o600),
		os.WriteFile(filepath.Join(dir, "runs", "fine.jsonl.new"), nil, 0o600),
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
		{Run: "flipped", File: h.File("flipped"), Line: 4, Byte: place(b, 3), Remedy: journal.ByRepair, Damage: true},
		{File: filepath.Join(dir, "runs", "notes"), Remedy: journal.ByInspector},
		{Run: "stray", File: filepath.Join(h.Folder("stray"), "notes.txt"), Remedy: journal.ByInspector},
		{Run: "gone", File: h.File("gone"), Remedy: journal.ByRestore, Damage: true},
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
	path := h.File("r")
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
