package journal_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/journal"
)

func TestRepairKeepsWhatStandsBeforeTheDamage(t *testing.T) {
	for name, row := range map[string]struct {
		damage        func(b []byte) []byte
		kept          int
		lost          uint64
		dropped, save bool
	}{
		"flip in line 3":      {func(b []byte) []byte { b[place(b, 2)+9] ^= 1; return b }, 2, 5, true, true},
		"line 4 missing":      {func(b []byte) []byte { return append(b[:place(b, 3):place(b, 3)], b[place(b, 4):]...) }, 3, 5, true, true},
		"last line gone":      {func(b []byte) []byte { return b[:place(b, 4)] }, 4, 5, false, false},
		"torn within line 3":  {func(b []byte) []byte { return b[:place(b, 2)+30] }, 2, 5, true, true},
		"something else's":    {func([]byte) []byte { return another(200) }, 5, 0, false, false},
		"garbage at the end":  {func(b []byte) []byte { return append(b, "garbage\n"...) }, 5, 0, true, true},
		"a line behind twice": {func(b []byte) []byte { return append(b, b[place(b, 4):]...) }, 5, 0, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			h := home(t, dir, journal.Exit)
			closedRun(t, h, "r")
			path := h.File("r")
			b, _ := os.ReadFile(path)
			damaged := row.damage(b)
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			before, _ := h.Read("r")
			before = cloned(before)
			r, err := h.Repair("r")
			if err != nil {
				t.Fatal(err)
			}
			if r.Kept != row.kept || r.Lost != row.lost || (r.Dropped > 0) != row.dropped || (r.Saved != "") != row.save || !errors.Is(r.Damage, journal.ErrCorrupt) {
				t.Fatalf("%+v", r)
			}
			if kept, _ := os.ReadFile(r.Saved); row.save && !bytes.Equal(kept, damaged) {
				t.Fatal("the damaged file was not kept")
			}
			recs, err := h.Read("r")
			if err != nil {
				t.Fatal(err)
			}
			same(t, recs, before)
			if found, err := h.Check("r"); err != nil || len(found) > 0 {
				t.Fatal(found, err)
			}
			if head, err := h.Head("r"); err != nil || head.Seq != uint64(row.kept) || head.Summary != nil {
				t.Fatal(head, err)
			}
			f, _ := load(t, h, "r") // and it goes on
			appended(t, f, journal.Record{Seq: uint64(row.kept + 1), Kind: journal.Marker})
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if recs, err := h.Read("r"); err != nil || len(recs) != row.kept+1 {
				t.Fatal(err)
			}
		})
	}
}

func TestADamagedFileIsNeverOverwritten(t *testing.T) {
	h := home(t, t.TempDir(), journal.Exit)
	closedRun(t, h, "r")
	path := h.File("r")
	for n, want := range []string{"damaged-1", "damaged-2", "damaged-3"} {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		f.WriteString(strings.Repeat("x", n+1) + "\n")
		f.Close()
		r, err := h.Repair("r")
		if err != nil || filepath.Base(r.Saved) != "journal.jsonl."+want {
			t.Fatal(r, err)
		}
		if b, _ := os.ReadFile(r.Saved); !bytes.HasSuffix(b, []byte("\n"+strings.Repeat("x", n+1)+"\n")) {
			t.Fatalf("%s: %q", want, b)
		}
	}
}

func TestRepairRefuses(t *testing.T) {
	for name, row := range map[string]struct {
		prepare func(t *testing.T, h *journal.Home) error
		want    string
		is      error
	}{
		"an intact run": {func(t *testing.T, h *journal.Home) error { closedRun(t, h, "r"); return nil }, "nothing is damaged", nil},
		"no run":        {func(*testing.T, *journal.Home) error { return nil }, "run r", fs.ErrNotExist},
		"a run of which nothing is left": {func(t *testing.T, h *journal.Home) error {
			closedRun(t, h, "r")
			return os.Remove(h.File("r"))
		}, "restore a backup, or remove the run", journal.ErrCorrupt},
		"a held run": {func(t *testing.T, h *journal.Home) error {
			f, err := h.Create("r")
			t.Cleanup(func() { f.Close() })
			return err
		}, "held by pid", nil},
		"no id": {func(*testing.T, *journal.Home) error { return nil }, "run r", nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := home(t, t.TempDir(), journal.Exit)
			if err := row.prepare(t, h); err != nil {
				t.Fatal(err)
			}
			_, err := h.Repair("r")
			if err == nil || !strings.Contains(err.Error(), row.want) || row.is != nil && !errors.Is(err, row.is) {
				t.Fatal(err)
			}
		})
	}
}

func TestADamagedHeadIsWrittenAnew(t *testing.T) {
	h := home(t, t.TempDir(), journal.Exit)
	want := closedRun(t, h, "r")
	path := filepath.Join(filepath.Dir(h.File("r")), "_index")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(b, []byte("completed"), []byte("completeD"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := h.Check("r")
	if err != nil || len(found) != 1 || found[0].Damage || found[0].Remedy != journal.ByRepair || found[0].File != path {
		t.Fatal(found, err)
	}
	r, err := h.Repair("r")
	if err != nil || r.Saved != "" || r.Kept != len(want) {
		t.Fatal(r, err)
	}
	if found, _ := h.Check("r"); len(found) > 0 {
		t.Fatal(found)
	}
}

// place is where a line begins, counted from 0.
func place(b []byte, line int) int {
	at := 0
	for range line {
		at += bytes.IndexByte(b[at:], '\n') + 1
	}
	return at
}

func cloned(recs []journal.Record) []journal.Record {
	out := append([]journal.Record{}, recs...)
	for i := range out {
		out[i].Body = bytes.Clone(out[i].Body)
	}
	return out
}
