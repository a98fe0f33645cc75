package badger_test

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	dgraph "github.com/dgraph-io/badger/v4"
	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/providers/badger"
)

// sequence returns a sequence number as stored in keys and values.
func sequence(n uint64) string { return string(binary.BigEndian.AppendUint64(nil, n)) }

// unfinished adds data of interrupted writes to a store: interactions and index entries beyond the counter of their
// conversation. It returns the keys without them.
func unfinished(t *testing.T, dir string) []string {
	t.Helper()
	s := tenant(dir, "")
	for _, id := range []string{"c", "d"} {
		must(t, s.Append(t.Context(), interaction(id, "0"), interaction(id, "1")))
	}
	must(t, s.UpdateSession(t.Context(), "c", setVariable("v", "1")))
	want, err := badger.Keys(t.Context(), s)
	must(t, err)
	for _, id := range []string{"c", "d"} {
		for n, name := range map[uint64]string{2: "2", 3: "3"} {
			must(t, badger.Put(t.Context(), s, badger.KeyOf("", id, 's', sequence(n)), []byte("{}")))
			must(t, badger.Put(t.Context(), s, badger.KeyOf("", id, 'i', name), []byte(sequence(n))))
		}
	}
	return want
}

func TestGCDeletesInterruptedWrites(t *testing.T) {
	dir := t.TempDir()
	want := unfinished(t, dir)
	_, err := tenant(dir, "").GC(t.Context())
	must(t, err)
	got, err := badger.Keys(t.Context(), tenant(dir, ""))
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	checkHistory(t, dir, "c", 2)
	checkHistory(t, dir, "d", 2)
	checkIntact(t, dir)
}

// With an invalid number in the index, nothing is deleted.
func TestGCStopsAtDamagedIndex(t *testing.T) {
	dir := t.TempDir()
	unfinished(t, dir)
	must(t, badger.Put(t.Context(), tenant(dir, ""), badger.KeyOf("", "d", 'i', "odd"), []byte("odd")))
	before, err := badger.Keys(t.Context(), tenant(dir, ""))
	must(t, err)
	if _, err := tenant(dir, "").GC(t.Context()); err == nil || !strings.Contains(err.Error(), "3 bytes") {
		t.Errorf("GC: %v, want the entry of 3 bytes", err)
	}
	after, err := badger.Keys(t.Context(), tenant(dir, ""))
	must(t, err)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("keys (-before +after):\n%s", diff)
	}
}

// untilOpen is a context that ends when the store is open.
type untilOpen struct {
	context.Context
	dir string
}

func (c untilOpen) Err() error {
	raw, err := os.ReadFile(filepath.Join(c.dir, "pex-store.json"))
	if err != nil || !strings.Contains(string(raw), `"phase":"closed"`) {
		return context.Canceled
	}
	return nil
}

func TestCanceledGCDeletesNothing(t *testing.T) {
	dir := t.TempDir()
	unfinished(t, dir)
	before, err := badger.Keys(t.Context(), tenant(dir, ""))
	must(t, err)
	if _, err := tenant(dir, "").GC(untilOpen{t.Context(), dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("GC: %v, want %v", err, context.Canceled)
	}
	after, err := badger.Keys(t.Context(), tenant(dir, ""))
	must(t, err)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("keys (-before +after):\n%s", diff)
	}
}

// A damaged value without references must not cost the conversations stored after it in the same file.
func TestGCKeepsDamagedValueLog(t *testing.T) {
	large := func(id, n, text string) memory.Interaction {
		in := interaction(id, n)
		in.Answer = strings.Repeat(text, 1<<19)
		return in
	}
	for _, replaced := range []string{"aaaa", "bbbb", "cccc"} {
		dir := t.TempDir()
		s := tenant(dir, "")
		must(t, s.Append(t.Context(), large("c", "0", "a"), large("c", "1", "b"), large("c", "2", "c"), large("d", "0", "d")))
		for _, n := range []string{"0", "1", "2"} {
			must(t, s.Append(t.Context(), large("c", n, "x")))
		}
		first := glob(t, dir, "*.vlog")
		raw, err := os.ReadFile(first)
		must(t, err)
		raw[strings.Index(string(raw), replaced)] ^= 1
		must(t, os.WriteFile(first, raw, 0o600))

		_, err = s.GC(t.Context())
		if _, ok := errors.AsType[*badger.CorruptError](err); !ok || !strings.Contains(err.Error(), filepath.Base(first)) {
			t.Errorf("damage to %s: %v, want the name of %s", replaced, err, filepath.Base(first))
		}
		checkHistory(t, dir, "c", 3)
		checkHistory(t, dir, "d", 1)
	}
}

func TestGCReportsWhyTheValueLogWasNotRewritten(t *testing.T) {
	if err := badger.RewriteInMemory(t.Context()); !errors.Is(err, dgraph.ErrGCInMemoryMode) {
		t.Errorf("got %v, want %v", err, dgraph.ErrGCInMemoryMode)
	}
}

// A key of a kind that only a newer version knows is not deleted with its conversation.
func TestRemoveKeepsKeysOfUnknownKinds(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 2)
	s := tenant(dir, "")
	later := string(badger.KeyOf("", "c", 'z', "later"))
	must(t, badger.Put(t.Context(), s, []byte(later), []byte("value")))
	must(t, s.Remove(t.Context(), "c"))
	checkHistory(t, dir, "c", 0)
	keys, err := badger.Keys(t.Context(), s)
	must(t, err)
	if !slices.Contains(keys, later) {
		t.Errorf("keys %q, want %q among them", keys, later)
	}
}
