package journal_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/regular"
)

// syncsOf is what is synced while f runs, as paths below dir.
func syncsOf(t *testing.T, dir string, f func()) []string {
	t.Helper()
	var mu sync.Mutex
	var out []string
	stop := regular.ObserveSyncs(func(path string) {
		if rel, err := filepath.Rel(dir, path); err == nil {
			mu.Lock()
			out = append(out, rel)
			mu.Unlock()
		}
	})
	f()
	stop()
	return out
}

func records(t *testing.T) []journal.Record {
	_, recs := sample(t)
	return recs
}

func created(t *testing.T, h *journal.Home) *journal.File {
	t.Helper()
	f, err := h.Create("r")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func ended(t *testing.T, f *journal.File) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// What a power loss must not take: the record before its ticket is fulfilled,
// the names of the run's file, of the home, and of the folder it is in.
func TestWhatIsSyncedBeforeATicketIsFulfilled(t *testing.T) {
	project := t.TempDir()
	dir := filepath.Join(project, "made", ".pex")
	var h *journal.Home
	got := syncsOf(t, project, func() { h = home(t, dir, journal.Sync) })
	if want := []string{"made/.pex", "made", "."}; !slices.Equal(got, want) {
		t.Errorf("a new home syncs %q, want %q", got, want)
	}
	if got := syncsOf(t, project, func() { home(t, dir, journal.Sync) }); !slices.Equal(got, []string{"made/.pex"}) {
		t.Errorf("a home that is there syncs %q", got)
	}
	var f *journal.File
	if got := syncsOf(t, dir, func() { f = created(t, h) }); len(got) > 0 {
		t.Errorf("a run without a record syncs %q", got)
	}
	all := records(t)
	got = syncsOf(t, dir, func() { appended(t, f, all[:4]...) }) // to the intent of a write
	slices.Sort(got)                                             // the file and the names are synced side by side
	if want := []string{"runs", "runs/r.jsonl"}; !slices.Equal(got, want) {
		t.Errorf("the first write syncs %q, want %q", got, want)
	}
	if got := syncsOf(t, dir, func() { appended(t, f, all[4:6]...) }); !slices.Equal(got, []string{"runs/r.jsonl"}) {
		t.Errorf("a question syncs %q", got)
	}
	if got := syncsOf(t, dir, func() { ended(t, f) }); len(got) > 0 {
		t.Errorf("closing after a synced record syncs %q", got)
	}
	var s journal.Snapshot
	if got := syncsOf(t, dir, func() { s, _ = h.Snapshot("r") }); len(got) > 0 {
		t.Errorf("reading syncs %q", got)
	}
	got = syncsOf(t, dir, func() {
		if err := h.Remove("r"); err != nil {
			t.Error(err)
		}
	})
	if !slices.Equal(got, []string{"runs/_index", "runs"}) {
		t.Errorf("a removal syncs %q", got)
	}
	got = syncsOf(t, dir, func() {
		if err := h.Adopt(s); err != nil {
			t.Error(err)
		}
	})
	if want := []string{"runs/r.jsonl.new", "runs/_index", "runs"}; !slices.Equal(got, want) {
		t.Errorf("a restored run syncs %q, want %q", got, want)
	}
}

// A power loss may take the results of reads of the last 100 ms.
func TestARecordThatMayBeLostIsSyncedSoon(t *testing.T) {
	all, file := records(t), []string{"runs", "runs/r.jsonl"}
	t.Run("while the run goes on", func(t *testing.T) {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			f := created(t, home(t, dir, journal.Sync))
			got := syncsOf(t, dir, func() {
				appended(t, f, all[:3]...)
				time.Sleep(99 * time.Millisecond)
			})
			if len(got) > 0 {
				t.Errorf("a read syncs %q", got)
			}
			got = syncsOf(t, dir, func() {
				time.Sleep(2 * time.Millisecond)
				synctest.Wait()
			})
			if slices.Sort(got); !slices.Equal(got, file) {
				t.Errorf("after 100 ms it syncs %q, want %q", got, file)
			}
			ended(t, f)
		})
	})
	t.Run("when the file is closed", func(t *testing.T) {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			f := created(t, home(t, dir, journal.Sync))
			got := syncsOf(t, dir, func() {
				appended(t, f, all[:3]...)
				ended(t, f)
			})
			if slices.Sort(got); !slices.Equal(got, file) {
				t.Errorf("synced %q, want %q", got, file)
			}
		})
	})
}

func TestEveryRecordThatMustNotBeLostIsSynced(t *testing.T) {
	by := []byte(`{"user":"ann"}`)
	for _, row := range []struct {
		rec  journal.Record
		want bool
	}{
		{journal.Record{Kind: journal.Start, Path: "r"}, false},
		{journal.Record{Kind: journal.Intent, Class: journal.Read, Path: "x"}, false},
		{journal.Record{Kind: journal.Intent, Class: journal.Idempotent, Path: "x"}, false},
		{journal.Record{Kind: journal.Intent, Class: journal.Timer, Path: "x"}, false},
		{journal.Record{Kind: journal.Intent, Class: journal.Read, Path: "x", Sync: true}, true},
		{journal.Record{Kind: journal.Intent, Class: journal.Write, Path: "x"}, true},
		{journal.Record{Kind: journal.Intent, Class: journal.Question, Path: "x"}, true},
		{journal.Record{Kind: journal.Result, Path: "x"}, false},
		{journal.Record{Kind: journal.Result, Path: "x", Sync: true}, true},
		{journal.Record{Kind: journal.Result, Path: "x", By: by}, true},
		{journal.Record{Kind: journal.Redo, Path: "x"}, false},
		{journal.Record{Kind: journal.Redo, Path: "x", By: by}, true},
		{journal.Record{Kind: journal.UnknownOutcome, Path: "x"}, true},
		{journal.Record{Kind: journal.Answer, Path: "x"}, true},
		{journal.Record{Kind: journal.Cancel}, true},
		{journal.Record{Kind: journal.Change}, true},
		{journal.Record{Kind: journal.Marker}, true},
		{journal.Record{Kind: journal.End}, true},
	} {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) {
			f := created(t, home(t, dir, journal.Sync))
			row.rec.Seq = 1
			if got := syncsOf(t, dir, func() { appended(t, f, row.rec) }); len(got) > 0 != row.want {
				t.Errorf("kind %d, class %d, sync %v, by %q: synced %q", row.rec.Kind, row.rec.Class, row.rec.Sync, row.rec.By, got)
			}
			ended(t, f)
		})
	}
}

// A killed session may have written records and synced nothing. The next one depends on
// them, and its head counts them, so it syncs them before.
func TestWhatAKilledSessionWroteIsSynced(t *testing.T) {
	killed := t.TempDir()
	f := created(t, home(t, killed, journal.Exit))
	defer f.Close()
	appended(t, f, records(t)[:3]...)
	written, err := os.ReadFile(filepath.Join(killed, "runs", "r.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	both, file := []string{"runs", "runs/r.jsonl"}, []string{"runs/r.jsonl"}
	for d, sessions := range map[journal.Durability][][]string{
		journal.Sync:  {both, nil}, // when the file is opened, unless its head covers it
		journal.Async: {both, file},
		journal.Exit:  {both, file},
	} {
		dir := t.TempDir()
		h := home(t, dir, d)
		if err := os.WriteFile(h.File("r"), written, 0o600); err != nil {
			t.Fatal(err)
		}
		for n, want := range sessions {
			got := syncsOf(t, dir, func() {
				f, err := h.Open("r")
				if err != nil {
					t.Fatal(err)
				}
				f.SetHead([]byte(`{}`))
				ended(t, f)
				if err := h.Close(); err != nil {
					t.Error(err)
				}
			})
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%s: session %d syncs %q, want %q", d, n+1, got, want)
			}
		}
	}
}

func TestALogThatAKilledProcessCreatedIsSyncedWithItsName(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got := syncsOf(t, dir, func() {
			l, err := journal.OpenLog(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := l.Append([]byte(`{"a":1}`)); err != nil {
				t.Error(err)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
		if slices.Sort(got); !slices.Equal(got, []string{".", "log"}) {
			t.Errorf("synced %q", got)
		}
	}
}

func TestAsyncSyncsInTheBackground(t *testing.T) {
	dir := t.TempDir()
	h, all := home(t, dir, journal.Async), records(t)
	got := syncsOf(t, dir, func() {
		f := created(t, h)
		appended(t, f, all[:1]...)
		ended(t, f)
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	slices.Sort(got)
	got = slices.Compact(got) // it is synced again if the background was faster than the end
	if want := []string{"runs", "runs/r.jsonl"}; !slices.Equal(got, want) {
		t.Errorf("synced %q, want %q", got, want)
	}
}

// A repair puts a file in the place of the damaged one, which is kept: as a copy
// where the file system has no links.
func TestARepairIsSyncedBeforeItIsInPlace(t *testing.T) {
	for _, links := range []bool{true, false} {
		dir := t.TempDir()
		h, all := home(t, dir, journal.Sync), records(t)
		f := created(t, h)
		appended(t, f, all...)
		ended(t, f)
		if err := os.Truncate(h.File("r"), 700); err != nil {
			t.Fatal(err)
		}
		if !links {
			defer journal.WithoutLinks()()
		}
		var err error
		got := syncsOf(t, dir, func() { _, err = h.Repair("r") })
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"runs/r", "runs/r.jsonl.new", "runs/_index", "runs"}
		if !links {
			want = append([]string{"runs/r/journal.jsonl.damaged-1"}, want...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("links %v: synced %q, want %q", links, got, want)
		}
	}
}

func TestAFolderThatCannotBeSyncedIsAnError(t *testing.T) {
	if err := regular.SyncDir(filepath.Join(t.TempDir(), "missing")); err == nil || !strings.Contains(err.Error(), "sync directory") {
		t.Error(err)
	}
	if err := regular.SyncPath(filepath.Join(t.TempDir(), "missing")); !os.IsNotExist(err) {
		t.Error(err)
	}
}
