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
)

func at(t *testing.T, dir string) *indexcache.Cache {
	t.Helper()
	m, err := index.Mapping("en")
	if err != nil {
		t.Fatal(err)
	}
	return indexcache.New(dir, m)
}

// take takes the index; what is told is a failure unless it is wanted.
func take(t *testing.T, s *indexcache.Cache, want ...string) *indexcache.Lease {
	t.Helper()
	var told []string
	loan, err := s.Acquire(t.Context(), func(m string) { told = append(told, m) })
	if err != nil {
		t.Fatal(err)
	}
	if len(told) != len(want) || len(want) > 0 && !strings.Contains(told[0], want[0]) {
		t.Fatalf("told %q, want %q", told, want)
	}
	return loan
}

func put(t *testing.T, x *index.Index, path string) {
	t.Helper()
	err := x.Put(index.File{Path: path, Size: 9}, []index.Passage{{Place: index.Place{Start: 1, End: 1, To: 4}, Text: "ship"}})
	if err = errors.Join(err, x.Flush()); err != nil {
		t.Error(err)
	}
}

// files are those of the index.
func files(t *testing.T, s *indexcache.Cache, told ...string) int {
	t.Helper()
	loan := take(t, s, told...)
	defer loan.Release(nil)
	return len(loan.Index.Files())
}

func TestWhatWasPutIsThere(t *testing.T) {
	for _, tt := range []struct{ name, dir string }{{"in a folder", filepath.Join(t.TempDir(), "a/b")}, {"in memory", ""}} {
		t.Run(tt.name, func(t *testing.T) {
			s := at(t, tt.dir)
			for i := range 3 {
				loan := take(t, s)
				put(t, loan.Index, fmt.Sprint(i))
				loan.Release(nil)
			}
			if n := files(t, s); n != 3 {
				t.Errorf("%d files, want 3", n)
			}
			if n := files(t, at(t, tt.dir)); tt.dir != "" && n != 3 || tt.dir == "" && n != 0 {
				t.Errorf("another shelf has %d files", n)
			}
		})
	}
}

func TestAnIndexThatBreaksIsMadeAnew(t *testing.T) {
	dir := t.TempDir()
	s := at(t, dir)
	broken := fmt.Errorf("here: %w", index.ErrBroken)
	for range 2 {
		loan := take(t, s)
		put(t, loan.Index, "a")
		loan.Release(errors.New("something else"))
		if n := files(t, s); n != 1 {
			t.Errorf("%d files after another error, want 1", n)
		}
		take(t, s).Release(broken)
	}
	loan := take(t, s, "its folder breaks it")
	put(t, loan.Index, "a")
	loan.Release(nil)
	if n := files(t, s); n != 1 {
		t.Errorf("%d files in memory, want 1", n)
	}
	take(t, s).Release(broken)
	if n := files(t, s, "its folder breaks it"); n != 0 {
		t.Errorf("%d files of a broken index in memory", n)
	}
	if n := files(t, at(t, dir)); n != 0 {
		t.Errorf("%d files of a broken index were kept", n)
	}
}

// Those of one process share the index, one after the other.
func TestManyShareAnIndex(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 8 {
		s := at(t, dir)
		wg.Go(func() {
			for k := range 4 {
				loan, err := s.Acquire(context.Background(), func(m string) { t.Errorf("told %s", m) })
				if err != nil {
					t.Error(err)
					return
				}
				put(t, loan.Index, fmt.Sprint(i, k))
				loan.Release(nil)
			}
		})
	}
	wg.Wait()
	if n := files(t, at(t, dir)); n != 32 {
		t.Errorf("%d files, want 32", n)
	}
}

// Who no longer waits leaves nothing open.
func TestWaitingEndsWithTheContext(t *testing.T) {
	dir := t.TempDir()
	loan := take(t, at(t, dir))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := at(t, dir).Acquire(ctx, func(string) {})
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
	loan.Release(nil)
	m, err := index.Mapping("en")
	if err != nil {
		t.Fatal(err)
	}
	x, err := index.Open(filepath.Join(dir, "index"), m)
	if err != nil {
		t.Fatalf("the index is still open: %v", err)
	}
	defer x.Close()
	if n := files(t, at(t, dir), "another process has the index"); n != 0 {
		t.Errorf("%d files", n)
	}
}

func TestNowhere(t *testing.T) {
	s := at(t, filepath.Join(os.DevNull, "x"))
	loan := take(t, s, "the index is not kept")
	put(t, loan.Index, "a")
	loan.Release(nil)
	if n := files(t, s); n != 1 {
		t.Errorf("%d files in memory, want 1, told once", n)
	}
}

func TestOldShelvesMakeRoom(t *testing.T) {
	home := t.TempDir()
	dir := func(i int) string { return filepath.Join(home, fmt.Sprintf("%02d", i)) }
	used := take(t, at(t, dir(0)))
	defer used.Release(nil)
	for i := range indexcache.MaxIndexes + 3 {
		if i > 0 {
			take(t, at(t, dir(i))).Release(nil)
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
		t.Errorf("%v, want the one in use and those that were used last, %d in all", got, indexcache.MaxIndexes)
	}
}
