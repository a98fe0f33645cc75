package indexcache_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pexctl/pex/providers/bleve/indexcache"
	"github.com/pexctl/pex/providers/bleve/indexcache/index"
	"github.com/pexctl/pex/providers/bleve/indexcache/index/word"
)

func open(t *testing.T, dir string) *indexcache.Cache {
	t.Helper()
	a, err := word.New("en")
	if err != nil {
		t.Fatal(err)
	}
	return indexcache.New(dir, a)
}

// take acquires the index and checks its progress messages against want.
func acquire(t *testing.T, s *indexcache.Cache, want ...string) *indexcache.Lease {
	t.Helper()
	var progress []string
	lease, err := s.Acquire(t.Context(), func(m string) { progress = append(progress, m) })
	if err != nil {
		t.Fatal(err)
	}
	if len(progress) != len(want) || len(want) > 0 && !strings.Contains(progress[0], want[0]) {
		t.Fatalf("progress %q, want %q", progress, want)
	}
	return lease
}

func put(t *testing.T, x *index.Index, path string) {
	t.Helper()
	err := x.Put(index.File{Path: path, Size: 9}, []index.Passage{{Place: index.Place{Start: 1, End: 1, To: 4}, Text: "ship"}})
	if err = errors.Join(err, x.Flush()); err != nil {
		t.Error(err)
	}
}

// files returns the number of files in the index.
func files(t *testing.T, s *indexcache.Cache, progress ...string) int {
	t.Helper()
	lease := acquire(t, s, progress...)
	defer lease.Release(nil)
	return len(lease.Index.Files())
}

func TestIndexKeepsFiles(t *testing.T) {
	for _, tt := range []struct{ name, dir string }{{"in a folder", filepath.Join(t.TempDir(), "a/b")}, {"in memory", ""}} {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, tt.dir)
			for i := range 3 {
				lease := acquire(t, s)
				put(t, lease.Index, fmt.Sprint(i))
				lease.Release(nil)
			}
			if n := files(t, s); n != 3 {
				t.Errorf("%d files, want 3", n)
			}
			if n := files(t, open(t, tt.dir)); tt.dir != "" && n != 3 || tt.dir == "" && n != 0 {
				t.Errorf("a second cache has %d files", n)
			}
		})
	}
}

func TestBrokenIndexIsRebuilt(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	broken := fmt.Errorf("here: %w", index.ErrBroken)
	for range 2 {
		lease := acquire(t, s)
		put(t, lease.Index, "a")
		lease.Release(errors.New("something else"))
		if n := files(t, s); n != 1 {
			t.Errorf("%d files after another error, want 1", n)
		}
		acquire(t, s).Release(broken)
	}
	lease := acquire(t, s, "the index was damaged repeatedly")
	put(t, lease.Index, "a")
	lease.Release(nil)
	if n := files(t, s); n != 1 {
		t.Errorf("%d files in memory, want 1", n)
	}
	acquire(t, s).Release(broken)
	if n := files(t, s, "the index was damaged repeatedly"); n != 0 {
		t.Errorf("%d files of a broken index in memory", n)
	}
	if n := files(t, open(t, dir)); n != 0 {
		t.Errorf("%d files of a broken index remain", n)
	}
}

// Caches of one process take turns with the same index.
func TestConcurrentCachesShareAnIndex(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 8 {
		s := open(t, dir)
		wg.Go(func() {
			for k := range 4 {
				lease, err := s.Acquire(context.Background(), func(m string) { t.Errorf("progress %s", m) })
				if err != nil {
					t.Error(err)
					return
				}
				put(t, lease.Index, fmt.Sprint(i, k))
				lease.Release(nil)
			}
		})
	}
	wg.Wait()
	if n := files(t, open(t, dir)); n != 32 {
		t.Errorf("%d files, want 32", n)
	}
}

// A canceled Acquire leaves nothing open.
func TestWaitingEndsWithTheContext(t *testing.T) {
	dir := t.TempDir()
	lease := acquire(t, open(t, dir))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := open(t, dir).Acquire(ctx, func(string) {})
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
	lease.Release(nil)
	if n := files(t, open(t, dir)); n != 0 {
		t.Errorf("%d files", n)
	}
	if _, remains := os.Stat(filepath.Join(dir, "index")); remains != nil {
		t.Error(remains)
	}
}

func TestUnwritableFolderUsesMemory(t *testing.T) {
	s := open(t, filepath.Join(os.DevNull, "x"))
	lease := acquire(t, s, "the index cannot be stored")
	put(t, lease.Index, "a")
	lease.Release(nil)
	if n := files(t, s); n != 1 {
		t.Errorf("%d files in memory, want 1", n)
	}
}

func TestLeastRecentlyUsedIndexesAreEvicted(t *testing.T) {
	home := t.TempDir()
	dir := func(i int) string { return filepath.Join(home, fmt.Sprintf("%02d", i)) }
	used := acquire(t, open(t, dir(0)))
	defer used.Release(nil)
	for i := range indexcache.MaxIndexes + 3 {
		if i > 0 {
			acquire(t, open(t, dir(i))).Release(nil)
		}
		if err := os.Chtimes(filepath.Join(dir(i), "lock"), time.Unix(int64(i), 0), time.Unix(int64(i), 0)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := os.ReadDir(home)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		got = append(got, e.Name())
	}
	if len(got) != indexcache.MaxIndexes || !slices.Equal(got[:2], []string{"00", "04"}) {
		t.Errorf("%v, want the locked one and the most recently used, %d in all", got, indexcache.MaxIndexes)
	}
}
