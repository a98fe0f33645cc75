package badger_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/providers/badger"
)

func tenant(dir, name string) *badger.Store {
	return badger.Open(dir, badger.Options{Tenant: name})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func setVariable(name, value string) func(*memory.Session) error {
	return func(s *memory.Session) error {
		if s.Variables == nil {
			s.Variables = map[string]json.RawMessage{}
		}
		s.Variables[name] = json.RawMessage(value)
		return nil
	}
}

// checkIntact checks that a store has no damage.
func checkIntact(t *testing.T, dir string) {
	t.Helper()
	if damage, err := tenant(dir, "").Check(t.Context()); err != nil || len(damage) > 0 {
		t.Errorf("check: %v, %v", damage, err)
	}
}

func TestReadingCreatesNoStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "memory")
	s := tenant(dir, "")
	ctx := t.Context()
	if got, err := s.History(ctx, "c"); err != nil || len(got) > 0 {
		t.Errorf("history: %v, %v", got, err)
	}
	if got, err := s.List(ctx); err != nil || len(got) > 0 {
		t.Errorf("list: %v, %v", got, err)
	}
	if got, err := s.Tenants(ctx); err != nil || len(got) > 0 {
		t.Errorf("tenants: %v, %v", got, err)
	}
	if got, err := s.Check(ctx); err != nil || len(got) > 0 {
		t.Errorf("check: %v, %v", got, err)
	}
	if got, err := s.GC(ctx); err != nil || got != (badger.Reclaimed{}) {
		t.Errorf("gc: %v, %v", got, err)
	}
	if err := s.Remove(ctx, "c"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("remove: %v", err)
	}
	if err := s.Backup(ctx, &strings.Builder{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("backup: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory exists: %v", err)
	}
}

func TestListIsSortedLatestFirst(t *testing.T) {
	dir := t.TempDir()
	at := func(hour int) time.Time { return time.Date(2026, 11, 20, hour, 0, 0, 0, time.UTC) }
	add := func(memoryID, id string, hour int) {
		in := interaction(memoryID, id)
		in.At, in.Question = at(hour), "question "+id
		must(t, tenant(dir, "x").Append(t.Context(), in))
	}
	add("old", "1", 1)
	add("long", "1", 2)
	add("long", "2", 3)
	add("long", "3", 9)
	add("new", "1", 8)
	must(t, tenant(dir, "x").UpdateSession(t.Context(), "with notes", func(s *memory.Session) error {
		s.Notes = []memory.Note{{ID: "1", At: at(4)}, {ID: "2", At: at(5)}}
		return setVariable("v", "1")(s)
	}))
	must(t, tenant(dir, "other").Append(t.Context(), interaction("theirs", "1")))

	got, err := tenant(dir, "x").List(t.Context())
	must(t, err)
	for i := range got {
		if got[i].Bytes <= 0 {
			t.Errorf("%s has %d bytes", got[i].MemoryID, got[i].Bytes)
		}
		got[i].Bytes = 0
	}
	want := []memory.Conversation{
		{MemoryID: "long", Interactions: 3, First: at(2), Last: at(9), LastQuestion: "question 3"},
		{MemoryID: "new", Interactions: 1, First: at(8), Last: at(8), LastQuestion: "question 1"},
		{MemoryID: "with notes", Notes: 2, Variables: 1, First: at(4), Last: at(5)},
		{MemoryID: "old", Interactions: 1, First: at(1), Last: at(1), LastQuestion: "question 1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got, err := tenant(dir, "").Tenants(t.Context()); err != nil || !slices.Equal(got, []string{"other", "x"}) {
		t.Errorf("tenants %q, %v", got, err)
	}
}

func TestRemoveDeletesOneConversation(t *testing.T) {
	dir := t.TempDir()
	ctx := t.Context()
	s := tenant(dir, "a")
	for _, id := range []string{"c", "ca", "d"} {
		must(t, s.Append(ctx, interaction(id, "0"), interaction(id, "1")))
		must(t, s.UpdateSession(ctx, id, setVariable("v", `"`+id+`"`)))
	}
	must(t, tenant(dir, "b").Append(ctx, interaction("c", "0")))
	must(t, s.Remove(ctx, "c"))
	if err := s.Remove(ctx, "c"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("second removal: %v", err)
	}
	for _, c := range []struct {
		store *badger.Store
		id    string
		want  int
	}{{s, "c", 0}, {s, "ca", 2}, {s, "d", 2}, {tenant(dir, "b"), "c", 1}} {
		if got, err := c.store.History(ctx, c.id); err != nil || len(got) != c.want {
			t.Errorf("%s has %d interactions, want %d (%v)", c.id, len(got), c.want, err)
		}
	}
	if got, err := s.Session(ctx, "c"); err != nil || len(got.Variables) > 0 {
		t.Errorf("session %v, %v", got, err)
	}
	checkIntact(t, dir)

	// The id can be reused, and no old data reappears.
	must(t, s.Append(ctx, interaction("c", "1"), interaction("c", "2")))
	got, err := s.History(ctx, "c")
	if err != nil || len(got) != 2 || got[0].ID != "1" || got[1].ID != "2" {
		t.Errorf("after reuse: %v, %v", got, err)
	}
	checkIntact(t, dir)
}

// A conversation of this size does not fit into one transaction.
func TestRemoveDeletesLongConversation(t *testing.T) {
	dir := t.TempDir()
	const many = 2500
	all := make([]memory.Interaction, many)
	for i := range all {
		all[i] = interaction("long", fmt.Sprint(i))
	}
	must(t, tenant(dir, "").Append(t.Context(), all...))
	checkHistory(t, dir, "long", many)
	must(t, tenant(dir, "").Append(t.Context(), interaction("c", "0")))
	must(t, tenant(dir, "").Remove(t.Context(), "long"))
	checkHistory(t, dir, "long", 0)
	checkHistory(t, dir, "c", 1)
	checkIntact(t, dir)
}

func TestAppendIsAllOrNothing(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 1)
	err := tenant(dir, "").Append(t.Context(), interaction("c", "1"), interaction("d", "0"), interaction("c", ""))
	if err == nil {
		t.Error("no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := tenant(dir, "").Append(ctx, interaction("c", "1"), interaction("d", "0")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	checkHistory(t, dir, "c", 1)
	checkHistory(t, dir, "d", 0)
}

func TestSessionSizeIsLimited(t *testing.T) {
	s := tenant(t.TempDir(), "")
	must(t, s.UpdateSession(t.Context(), "c", setVariable("v", `"kept"`)))
	err := s.UpdateSession(t.Context(), "c", setVariable("w", `"`+strings.Repeat("x", badger.MaxSession)+`"`))
	if err == nil || !strings.Contains(err.Error(), "maximum is 1048576") {
		t.Errorf("got %v", err)
	}
	if err := s.UpdateSession(t.Context(), "c", setVariable("w", `{`)); err == nil {
		t.Error("invalid JSON was accepted")
	}
	got, err := s.Session(t.Context(), "c")
	if err != nil || len(got.Variables) != 1 || string(got.Variables["v"]) != `"kept"` {
		t.Errorf("%v, %v", got, err)
	}
}

func TestGCReclaimsSpace(t *testing.T) {
	dir := t.TempDir()
	for i := range 12 {
		in := interaction("c", "same")
		in.Answer = strings.Repeat(fmt.Sprint(i%10), 1<<20)
		must(t, tenant(dir, "").Append(t.Context(), in))
	}
	must(t, tenant(dir, "").Append(t.Context(), interaction("d", "0")))
	r, err := tenant(dir, "").GC(t.Context())
	must(t, err)
	if r.Before < 10<<20 || r.After > r.Before/2 {
		t.Errorf("%d bytes before, %d after", r.Before, r.After)
	}
	got, err := tenant(dir, "").History(t.Context(), "c")
	if err != nil || len(got) != 1 || got[0].Answer != strings.Repeat("1", 1<<20) {
		t.Errorf("%d interactions, %v", len(got), err)
	}
	checkHistory(t, dir, "d", 1)
	checkIntact(t, dir)
}

func TestCheckReportsOnlyTheDamage(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		must(t, tenant(dir, name).Append(t.Context(), interaction("small", "0")))
	}
	in := interaction("big", "0")
	in.Answer = strings.Repeat("x", 200_000) // in the value log
	must(t, tenant(dir, "a").Append(t.Context(), in))
	largest, size := "", int64(0)
	files, err := filepath.Glob(filepath.Join(dir, "*.vlog"))
	must(t, err)
	for _, f := range files {
		info, err := os.Stat(f)
		must(t, err)
		if info.Size() > size {
			largest, size = f, info.Size()
		}
	}
	raw, err := os.ReadFile(largest)
	must(t, err)
	raw[len(raw)/2] ^= 1
	must(t, os.WriteFile(largest, raw, 0o600))

	for range 2 {
		got, err := tenant(dir, "").Check(t.Context())
		if err != nil || len(got) != 1 || got[0].Tenant != "a" || got[0].MemoryID != "big" || !strings.Contains(got[0].What, "interaction 0") {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	if got, err := tenant(dir, "a").History(t.Context(), "small"); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
	must(t, os.Remove(filepath.Join(dir, "MANIFEST")))
	got, err := tenant(dir, "").Check(t.Context())
	if want := []badger.Damage{{What: "MANIFEST is missing"}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}
