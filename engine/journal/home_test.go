package journal_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pexctl/pex/engine/journal"
)

var start = journal.Record{Seq: 1, Kind: journal.Start, Path: "r"}

func TestARunExistsFromItsFirstWholeRecord(t *testing.T) {
	b, _ := sample(t)
	line := slices.Index(b, '\n')
	for name, row := range map[string]struct {
		left   []byte
		exists bool
	}{
		"nothing":          {nil, false},
		"empty file":       {[]byte{}, false},
		"torn first line":  {b[:line-5], false},
		"only the newline": {b[:line], true},
		"one record":       {b[:line+1], true},
		"all":              {b, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			h := home(t, dir, journal.Sync)
			if row.left != nil {
				leave(t, dir, "r", row.left)
			}
			ids, err := h.List()
			if err != nil || slices.Contains(ids, "r") != row.exists {
				t.Fatal(err, ids)
			}
			if !row.exists {
				if _, err := h.Open("r"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "run r") {
					t.Fatal("open:", err)
				}
				if _, err := h.Read("r"); !errors.Is(err, fs.ErrNotExist) {
					t.Fatal("read:", err)
				}
			}
			f, err := h.Create("r")
			var exists *journal.ExistsError
			if errors.As(err, &exists) != row.exists {
				t.Fatal("create:", err)
			}
			if row.exists {
				if exists.Run != "r" || !strings.Contains(err.Error(), "resume it") {
					t.Fatal(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			appended(t, f, start)
			f.Close()
			recs, err := h.Read("r")
			if err != nil || len(recs) != 1 {
				t.Fatal(err, recs)
			}
		})
	}
}

func TestRunIDsAreWhatEveryFileSystemTakes(t *testing.T) {
	h := home(t, t.TempDir(), journal.Sync)
	for _, id := range []string{"a", "0", "a.b_c-D9", strings.Repeat("x", 64)} {
		f, err := h.Create(id)
		if err != nil {
			t.Errorf("%q: %v", id, err)
			continue
		}
		f.Close()
	}
	for _, id := range []string{"", ".", "..", "../x", "a/b", `a\b`, "-a", ".a", "_a", "a b", "é", "a\x00", strings.Repeat("x", 65)} {
		for _, open := range []func(string) (*journal.File, error){h.Create, h.Open} {
			if _, err := open(id); err == nil || !strings.Contains(err.Error(), "use 1 to 64") {
				t.Errorf("%q: %v", id, err)
			}
		}
		if _, err := h.Read(id); err == nil {
			t.Errorf("%q was read", id)
		}
	}
}

func TestListSkipsWhatIsNoRun(t *testing.T) {
	b, _ := sample(t)
	dir := t.TempDir()
	h := home(t, dir, journal.Sync)
	for _, id := range []string{"b", "a", "c.3"} {
		leave(t, dir, id, b)
	}
	leave(t, dir, "empty", nil)
	leave(t, dir, ".hidden", b)
	if err := os.WriteFile(filepath.Join(dir, "runs", "file"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := h.List(); err != nil || !slices.Equal(got, []string{"a", "b", "c.3"}) {
		t.Fatal(got, err)
	}
}

func TestARunUnderWayCanBeReadButNotOpened(t *testing.T) {
	h := home(t, t.TempDir(), journal.Sync)
	f, err := h.Create("r")
	if err != nil {
		t.Fatal(err)
	}
	appended(t, f, start)
	if recs, err := h.Read("r"); err != nil || len(recs) != 1 {
		t.Fatal(err, recs)
	}
	for _, open := range []func(string) (*journal.File, error){h.Open, h.Create} {
		_, err := open("r")
		var held *journal.InUseError
		if !errors.As(err, &held) || held.PID != os.Getpid() || err.Error() != fmt.Sprintf("run r is held by pid %d", os.Getpid()) {
			t.Fatal(err)
		}
	}
	f.Close()
	if f, err = h.Open("r"); err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func TestUnknownDurabilityIsRefused(t *testing.T) {
	if _, err := journal.OpenHome(t.TempDir(), "perhaps"); err == nil || !strings.Contains(err.Error(), "use sync, async or exit") {
		t.Fatal(err)
	}
}

// Appends from one goroutine while commits are under way: all are there, in order.
func TestQueuedCommitsShareAWrite(t *testing.T) {
	for _, d := range []journal.Durability{"", journal.Sync, journal.Async, journal.Exit} {
		t.Run(string(d), func(t *testing.T) {
			h := home(t, t.TempDir(), d)
			var wg sync.WaitGroup
			for run := range 4 {
				wg.Go(func() {
					f, err := h.Create(fmt.Sprint("r", run))
					if err != nil {
						t.Error(err)
						return
					}
					defer f.Close()
					var last *journal.Ticket
					for i := range 200 {
						if last, err = f.Append([]journal.Record{{Seq: uint64(i + 1), Kind: journal.Marker}}); err != nil {
							t.Error(err)
							return
						}
					}
					if err := last.Wait(); err != nil || !last.Ready() {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			for run := range 4 {
				if recs, err := h.Read(fmt.Sprint("r", run)); err != nil || len(recs) != 200 {
					t.Fatal(err, len(recs))
				}
			}
		})
	}
}
