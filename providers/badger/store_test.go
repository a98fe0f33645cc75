package badger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/providers/badger"
)

func TestStoreConformance(t *testing.T) {
	enginetest.MemorySuite(t, func(t *testing.T) memory.Store {
		return badger.Open(filepath.Join(t.TempDir(), "memory"), badger.Options{})
	})
}

func TestIdleStoreConformance(t *testing.T) {
	enginetest.MemorySuite(t, func(t *testing.T) memory.Store {
		s := badger.Open(filepath.Join(t.TempDir(), "memory"), badger.Options{Idle: time.Minute})
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		return s
	})
}

// reopening is a memory that opens a new Store for every operation, as separate processes do.
type reopening struct{ dir string }

// open waits up to a minute, for slow machines.
func (s reopening) open() *badger.Store {
	return badger.Open(s.dir, badger.Options{LockWait: time.Minute})
}

func (s reopening) History(ctx context.Context, id string) ([]memory.Interaction, error) {
	return s.open().History(ctx, id)
}

func (s reopening) Append(ctx context.Context, in ...memory.Interaction) error {
	return s.open().Append(ctx, in...)
}

func (s reopening) Session(ctx context.Context, id string) (memory.Session, error) {
	return s.open().Session(ctx, id)
}

func (s reopening) UpdateSession(ctx context.Context, id string, change func(*memory.Session) error) error {
	return s.open().UpdateSession(ctx, id, change)
}

func TestReopenedStoreConformance(t *testing.T) {
	enginetest.MemorySuite(t, func(t *testing.T) memory.Store { return reopening{t.TempDir()} })
}

func interaction(memoryID, id string) memory.Interaction {
	return memory.Interaction{ID: id, MemoryID: memoryID, Question: "q", Answer: "a " + id, Status: stop.RunCompleted}
}

func fill(t *testing.T, dir string, n int) {
	t.Helper()
	s := badger.Open(dir, badger.Options{})
	for i := range n {
		if err := s.Append(t.Context(), interaction("c", fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
}

// checkHistory checks that a conversation has exactly the interactions 0 to n-1, in order.
func checkHistory(t *testing.T, dir, memoryID string, n int) {
	t.Helper()
	got, err := badger.Open(dir, badger.Options{}).History(t.Context(), memoryID)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != n {
		t.Fatalf("%d interactions, want %d", len(got), n)
	}
	for i, in := range got {
		if in.ID != fmt.Sprint(i) {
			t.Errorf("interaction %d is %s", i, in.ID)
		}
	}
}

func TestOpenCreatesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "memory")
	badger.Open(dir, badger.Options{})
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory exists: %v", err)
	}
}

func TestDirectoryIsPrivate(t *testing.T) {
	for _, exists := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "memory")
		if exists {
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		fill(t, dir, 1)
		info, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o700 {
			t.Errorf("existing %v: mode %o", exists, got)
		}
	}
}

func TestTenantsAreSeparate(t *testing.T) {
	dir := t.TempDir()
	// Without lengths, several of these pairs would share a key.
	pairs := [][2]string{{"", "ab"}, {"a", "b"}, {"ab", "c"}, {"a", "bc"}, {"a/", "b"}, {"a", "/b"}, {"a\x00", "b"}, {"a", "\x00b"}, {"..", "x"}}
	at := func(tenant string) *badger.Store { return badger.Open(dir, badger.Options{Tenant: tenant}) }
	for i, p := range pairs {
		if err := at(p[0]).Append(t.Context(), interaction(p[1], fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	for i, p := range pairs {
		got, err := at(p[0]).History(t.Context(), p[1])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]memory.Interaction{interaction(p[1], fmt.Sprint(i))}, got); diff != "" {
			t.Errorf("tenant %q, memory %q:\n%s", p[0], p[1], diff)
		}
	}
	if got, err := at("a").History(t.Context(), "ab"); err != nil || len(got) != 0 {
		t.Errorf("tenant a sees %v, %v", got, err)
	}
}

func TestTwoStoresTakeTurns(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for w := range 2 {
		s := badger.Open(dir, badger.Options{LockWait: time.Minute})
		for g := range 2 {
			wg.Go(func() {
				for i := range 10 {
					in := interaction("shared", fmt.Sprintf("%d-%d-%d", w, g, i))
					if err := s.Append(t.Context(), in); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	wg.Wait()
	got, err := badger.Open(dir, badger.Options{}).History(t.Context(), "shared")
	if err != nil || len(got) != 40 {
		t.Errorf("%d interactions, %v", len(got), err)
	}
}

func TestShortLeasesDoNotAccumulateFiles(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 40)
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) > 25 {
		t.Errorf("%d files after 40 leases", len(files))
	}
	checkHistory(t, dir, "c", 40)
}

func TestInvalidInteractionsAreRejected(t *testing.T) {
	s := badger.Open(t.TempDir(), badger.Options{})
	for name, in := range map[string]memory.Interaction{
		"no id":            interaction("c", ""),
		"no memory id":     interaction("", "1"),
		"long id":          interaction("c", strings.Repeat("x", 5000)),
		"long memory id":   interaction(strings.Repeat("x", 5000), "1"),
		"invalid UTF-8":    interaction("c\xff", "1"),
		"id invalid UTF-8": interaction("c", "\xff"),
		"bad trace":        {ID: "1", MemoryID: "c", Trace: []byte("{")},
		"too large":        {ID: "1", MemoryID: "c", Answer: strings.Repeat("x", 9<<20)},
	} {
		if err := s.Append(t.Context(), in); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, before := range []int{0, 1000} {
		b.Run(fmt.Sprintf("after_%d", before), func(b *testing.B) {
			dir := b.TempDir()
			s := badger.Open(dir, badger.Options{})
			for i := range before {
				if err := s.Append(b.Context(), interaction(fmt.Sprint("m", i%50), fmt.Sprint(i))); err != nil {
					b.Fatal(err)
				}
			}
			in := interaction("c", "")
			in.Answer = strings.Repeat("x", 2000)
			for i := 0; b.Loop(); i++ {
				in.ID = fmt.Sprint(i)
				if err := s.Append(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkHistory(b *testing.B) {
	s := badger.Open(b.TempDir(), badger.Options{})
	for i := range 20 {
		if err := s.Append(b.Context(), interaction("c", fmt.Sprint(i))); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if got, err := s.History(b.Context(), "c"); err != nil || len(got) != 20 {
			b.Fatal(err)
		}
	}
}
