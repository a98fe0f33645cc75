package journal_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
	b, err := os.ReadFile(h.File("r"))
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
			if err := damage(h.File("r"), b); err != nil {
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
	path := h.File("r")
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

// indexOf is the path of the index.
func indexOf(h *journal.Home) string { return filepath.Join(filepath.Dir(h.File("r")), "_index") }

// An index that is older than the journal, damaged, cut short or gone accuses no journal,
// and invents no run.
func TestAnIndexThatSaysLessAccusesNoJournal(t *testing.T) {
	recs := records(t)
	h, _ := killed(t, recs)
	index, err := os.ReadFile(indexOf(h))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string][]byte{"empty": {}, "half": index[:len(index)/2], "zeros": make([]byte, len(index)), "no start": index[20:]}
	for i := range index {
		b := bytes.Clone(index)
		b[i] ^= 1
		cases["flip"+strconv.Itoa(i)] = b
	}
	for at := 0; at < len(index); at += bytes.IndexByte(append(index[at+1:], '\n'), '\n') + 1 {
		cases["up to"+strconv.Itoa(at)] = index[:at]
		cases["another line at"+strconv.Itoa(at)] = slices.Concat(index[:at], []byte("\nwhat is this"), index[at:])
	}
	for name, b := range cases {
		if err := os.WriteFile(indexOf(h), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := h.Read("r"); err != nil || len(got) != len(recs) {
			t.Errorf("%s: %d records, %v", name, len(got), err)
		}
		if ids, err := h.List(); err != nil || !slices.Equal(ids, []string{"r"}) {
			t.Errorf("%s: listed %q, %v", name, ids, err)
		}
	}
	if err := os.Remove(indexOf(h)); err != nil {
		t.Fatal(err)
	}
	f, err := h.Open("r")
	if err != nil {
		t.Fatal(err)
	}
	ended(t, f)
}

// A line that was cut short, on a full disk for example, damages no other line.
func TestALineThatWasCutShortDamagesNoOther(t *testing.T) {
	h := home(t, t.TempDir(), journal.Exit)
	closedRun(t, h, "a")
	index, err := os.OpenFile(indexOf(h), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	index.WriteString("\n" + `{"v":1,"run_id":"b","seq":9,"ch`)
	index.Close()
	closedRun(t, h, "c")
	for _, id := range []string{"a", "c"} {
		if head, err := h.Head(id); err != nil || head.Seq != 5 {
			t.Errorf("%s: %+v, %v", id, head, err)
		}
	}
	if ids, err := h.List(); err != nil || !slices.Equal(ids, []string{"a", "c"}) {
		t.Errorf("%q, %v", ids, err)
	}
}

// Several homes in one folder, as of several processes, append to one index.
func TestHomesShareAnIndex(t *testing.T) {
	dir := t.TempDir()
	one, other := home(t, dir, journal.Sync), home(t, dir, journal.Exit)
	closedRun(t, one, "a")
	closedRun(t, other, "b")
	closedRun(t, one, "c")
	for _, h := range []*journal.Home{one, other} {
		for _, id := range []string{"a", "b", "c"} {
			if head, err := h.Head(id); err != nil || string(head.Summary) != `{"status":"completed"}` {
				t.Errorf("%s: %+v, %v", id, head, err)
			}
		}
	}
	if err := other.Remove("a"); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Head("a"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	closedRun(t, one, "a")
	if ids, err := other.List(); err != nil || !slices.Equal(ids, []string{"a", "b", "c"}) {
		t.Errorf("%q, %v", ids, err)
	}
}

// Sweep drops outdated lines, unless another home may be appending to them.
func TestSweepCompactsTheIndex(t *testing.T) {
	dir := t.TempDir()
	h := home(t, dir, journal.Sync)
	closedRun(t, h, "q")
	for range 20 {
		closedRun(t, h, "r")
		if err := h.Remove("r"); err != nil {
			t.Fatal(err)
		}
	}
	closedRun(t, h, "r")
	other := home(t, dir, journal.Sync)
	closedRun(t, other, "s")
	if n, err := h.Sweep(false); err != nil || n != 0 {
		t.Fatal("while it is in use:", n, err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if n, err := h.Sweep(true); err != nil || n < 1000 {
			t.Fatal(n, err)
		}
	}
	if n, err := h.Sweep(false); err != nil || n < 1000 {
		t.Fatal(n, err)
	}
	b, err := os.ReadFile(indexOf(h))
	if err != nil || bytes.Count(b, []byte("\n")) != 3 {
		t.Fatalf("%s, %v", b, err)
	}
	closedRun(t, h, "t")
	for _, id := range []string{"q", "r", "s", "t"} {
		if head, err := other.Head(id); err != nil || head.Summary == nil {
			t.Errorf("%s: %+v, %v", id, head, err)
		}
	}
}

// A repair accepts the loss: afterwards the run is whole, and is killed and
// damaged again like any other.
func TestARepairAfterAKillMovesTheWitnessBack(t *testing.T) {
	recs := records(t)
	h, b := killed(t, recs)
	path := h.File("r")
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
	if head, err := h.Head("r"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%+v, %v", head, err)
	}
	ended(t, f)
}
