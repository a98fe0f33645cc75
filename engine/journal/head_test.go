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

func TestAClosedSessionLeavesAHead(t *testing.T) {
	for _, d := range []journal.Durability{journal.Sync, journal.Async, journal.Exit} {
		t.Run(string(d), func(t *testing.T) {
			dir := t.TempDir()
			h := home(t, dir, d)
			closedRun(t, h, "r")
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			head, err := h.Head("r")
			if err != nil || head.Run != "r" || head.Seq != 5 || string(head.Summary) != `{"status":"completed"}` || head.Stale {
				t.Fatalf("%+v %v", head, err)
			}
			info, _ := os.Stat(filepath.Join(dir, "runs", "r.jsonl"))
			if head.Bytes != info.Size() {
				t.Fatalf("%d bytes, the file has %d", head.Bytes, info.Size())
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "runs", "*.new")); len(left) > 0 {
				t.Fatal(left)
			}
		})
	}
}

func TestTheHeadFollowsTheSessions(t *testing.T) {
	h := home(t, t.TempDir(), journal.Exit)
	closedRun(t, h, "r")
	f, err := h.Open("r")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil { // a session that did nothing says nothing
		t.Fatal(err)
	}
	if head, err := h.Head("r"); err != nil || head.Summary == nil {
		t.Fatal(head, err)
	}
	if f, err = h.Open("r"); err != nil {
		t.Fatal(err)
	}
	appended(t, f, journal.Record{Seq: 6, Kind: journal.Marker})
	if head, err := h.Head("r"); err != nil || !head.Stale || head.Seq != 5 {
		t.Fatal("while a session is on:", head, err)
	}
	if recs, err := h.Read("r"); err != nil || len(recs) != 6 {
		t.Fatal("an older head is no damage:", err, len(recs))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if head, err := h.Head("r"); err != nil || head.Stale || head.Seq != 6 || head.Summary != nil {
		t.Fatal(head, err)
	}
}

func TestARunWithoutARecordHasNoHead(t *testing.T) {
	h := home(t, t.TempDir(), journal.Sync)
	f, err := h.Create("r")
	if err != nil {
		t.Fatal(err)
	}
	f.SetHead([]byte(`{}`))
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Head("r"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if ids, err := h.List(); err != nil || len(ids) > 0 {
		t.Fatal(ids, err)
	}
}

func TestASummaryThatIsNoJSONIsRefused(t *testing.T) {
	h := home(t, t.TempDir(), journal.Sync)
	f, err := h.Create("r")
	if err != nil {
		t.Fatal(err)
	}
	appended(t, f, start)
	f.SetHead([]byte(`{oops`))
	if err := f.Close(); err == nil || !strings.Contains(err.Error(), "head of run r") {
		t.Fatal(err)
	}
	if recs, err := h.Read("r"); err != nil || len(recs) != 1 {
		t.Fatal("the journal must not suffer:", err)
	}
}

// The head is what shows that whole last lines are gone.
func TestTheHeadNamesWhatTheJournalLost(t *testing.T) {
	for name, row := range map[string]struct {
		damage func(path string, b []byte) error
		want   string
	}{
		"last line":  {func(p string, b []byte) error { return os.WriteFile(p, b[:lastLine(b)], 0o600) }, "ends with record 4, seq 5 to 5 are missing"},
		"torn":       {func(p string, b []byte) error { return os.WriteFile(p, b[:len(b)-9], 0o600) }, "ends with record 4, seq 5 to 5 are missing"},
		"all lines":  {func(p string, _ []byte) error { return os.WriteFile(p, nil, 0o600) }, "ends with record 0, seq 1 to 5 are missing"},
		"the file":   {func(p string, _ []byte) error { return os.Remove(p) }, "the file is gone, 5 records were written"},
		"its past":   {func(p string, _ []byte) error { return os.WriteFile(p, another(200), 0o600) }, "record 5 is not the one that was written"},
		"shorter":    {func(p string, _ []byte) error { return os.WriteFile(p, another(0), 0o600) }, "record 5 does not end at byte"},
		"first line": {func(p string, b []byte) error { b[3] ^= 1; return os.WriteFile(p, b, 0o600) }, "line 1 (byte 0)"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			h := home(t, dir, journal.Exit)
			closedRun(t, h, "r")
			path := filepath.Join(dir, "runs", "r.jsonl")
			b, _ := os.ReadFile(path)
			if err := row.damage(path, b); err != nil {
				t.Fatal(err)
			}
			_, read := h.Read("r")
			_, open := h.Open("r")
			_, create := h.Create("r")
			for how, err := range map[string]error{"read": read, "open": open, "create": create} {
				if !errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), row.want) || !strings.Contains(err.Error(), path) {
					t.Errorf("%s: want %q, got %v", how, row.want, err)
				}
			}
			if name == "the file" {
				if _, err := os.Stat(path); err == nil {
					t.Error("the lost journal was made anew")
				}
			}
		})
	}
}

// A killed session leaves a head that says how far it went, without a summary: that of
// the session before it no longer describes the run.
func TestTheHeadOfAKilledSessionHasNoSummary(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	h := home(t, from, journal.Sync)
	closedRun(t, h, "r")
	f, err := h.Open("r")
	if err != nil {
		t.Fatal(err)
	}
	appended(t, f, journal.Record{Seq: 6, Kind: journal.Marker})
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	ended(t, f)
	h = home(t, to, journal.Sync)
	head, err := h.Head("r")
	if err != nil || head.Seq != 6 || head.Summary != nil {
		t.Fatal(head, err)
	}
}

func TestARunWithAHeadOfALaterVersionIsLeftAlone(t *testing.T) {
	h := home(t, t.TempDir(), journal.Exit)
	closedRun(t, h, "r")
	path := filepath.Join(filepath.Dir(h.File("r")), "_index")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.TrimSpace(b)
	body := bytes.Replace(b[:bytes.LastIndex(b, []byte(`,"sum":`))], []byte(`"v":1,`), []byte(`"v":2,`), 1)
	if err := os.WriteFile(path, append([]byte("\n"), bytes.TrimSpace(journal.SealHead(body))...), 0o600); err != nil {
		t.Fatal(err)
	}
	_, head := h.Head("r")
	_, open := h.Open("r")
	for how, err := range map[string]error{"head": head, "open": open} {
		if !errors.Is(err, journal.ErrNewer) || errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), "use a later pexctl") {
			t.Errorf("%s: %v", how, err)
		}
	}
	if ids, err := h.List(); err != nil || len(ids) != 1 {
		t.Errorf("listed: %q, %v", ids, err)
	}
}

func TestALostNewlineIsNoLoss(t *testing.T) {
	dir := t.TempDir()
	h := home(t, dir, journal.Exit)
	want := closedRun(t, h, "r")
	path := filepath.Join(dir, "runs", "r.jsonl")
	b, _ := os.ReadFile(path)
	if err := os.WriteFile(path, b[:len(b)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	recs, err := h.Read("r")
	if err != nil {
		t.Fatal(err)
	}
	same(t, recs, want)
}

func TestADiskThatCannotTakeTheHeadIsNamed(t *testing.T) {
	dir := t.TempDir()
	h := home(t, dir, journal.Sync)
	f, err := h.Create("r")
	if err != nil {
		t.Fatal(err)
	}
	appended(t, f, start)
	if err := os.Mkdir(filepath.Join(dir, "runs", "_index"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err == nil || !strings.Contains(err.Error(), "_index") {
		t.Fatal(err)
	}
	if recs, err := h.Read("r"); err != nil || len(recs) != 1 {
		t.Fatal(err)
	}
}

func lastLine(b []byte) int { return bytes.LastIndexByte(b[:len(b)-1], '\n') + 1 }

// another is a journal of the same length in records, whose paths are so long.
func another(long int) []byte {
	var b []byte
	var c journal.Chain
	for i := range 5 {
		b, c, _ = journal.AppendLine(b, &journal.Record{Seq: uint64(i + 1), Kind: journal.Marker, Path: strings.Repeat("x", long)}, c)
	}
	return b
}

// A file system may give the identity of a removed file to the next one.
func TestAnotherIndexWithTheSameIdentityIsReadAgain(t *testing.T) {
	index := func(text string) (*journal.Home, []byte) {
		h := home(t, t.TempDir(), journal.Exit)
		f, err := h.Create("r")
		if err != nil {
			t.Fatal(err)
		}
		appended(t, f, journal.Record{Seq: 1, Kind: journal.Start, Path: "r", Body: []byte(text)})
		f.SetHead([]byte(text))
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(indexOf(h))
		if err != nil {
			t.Fatal(err)
		}
		return h, b
	}
	h, first := index("1")
	_, second := index("2")
	if len(first) != len(second) {
		t.Fatalf("%s\n%s", first, second)
	}
	for i, b := range [][]byte{first, second} {
		if err := os.WriteFile(indexOf(h), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if head := h.Heads([]string{"r"})["r"]; head == nil || string(head.Summary) != []string{"1", "2"}[i] {
			t.Errorf("index %d: %+v", i+1, head)
		}
	}
}
