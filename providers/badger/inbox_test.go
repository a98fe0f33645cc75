//go:build darwin || freebsd || linux

package badger_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pexctl/pex/engine/enginetest"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/regular"
	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/providers/badger"
)

// withInbox returns a store that appends to an inbox of up to 256 kB.
func withInbox(dir string) *badger.Store {
	return badger.Open(dir, badger.Options{Inbox: 256 << 10})
}

// post appends the interactions from to until-1 of a conversation to the inbox, each on a line of its own.
func post(t *testing.T, dir, memoryID string, from, until int) {
	t.Helper()
	for i := from; i < until; i++ {
		must(t, withInbox(dir).Append(t.Context(), interaction(memoryID, fmt.Sprint(i))))
	}
}

// inboxSize returns the size of a store's inbox.
func inboxSize(t *testing.T, dir string) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, "pex-store.inbox"))
	must(t, err)
	return info.Size()
}

func TestStoreWithInboxConformance(t *testing.T) {
	for name, o := range map[string]badger.Options{
		"large":            {Inbox: 256 << 10},
		"small":            {Inbox: 700},
		"small, kept open": {Inbox: 700, Idle: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			enginetest.MemorySuite(t, func(t *testing.T) memory.Store {
				s := badger.Open(filepath.Join(t.TempDir(), "memory"), o)
				t.Cleanup(func() {
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				})
				return s
			})
		})
	}
}

func TestAppendToInboxDoesNotOpenTheStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "memory")
	post(t, dir, "c", 0, 3)
	if got, want := listing(t, dir), "pex-store.inbox pex-store.inbox.lock"; got != want {
		t.Errorf("files %q, want %q", got, want)
	}
	checkHistory(t, dir, "c", 3)
	if n := inboxSize(t, dir); n != 0 {
		t.Errorf("%d bytes are left in the inbox", n)
	}
	post(t, dir, "c", 3, 5)
	checkHistory(t, dir, "c", 5)
	checkIntact(t, dir)
}

func TestEveryOperationSeesTheInbox(t *testing.T) {
	ctx := context.Background()
	for name, see := range map[string]func(*badger.Store) error{
		"list": func(s *badger.Store) error {
			all, err := s.List(ctx)
			if len(all) != 1 || all[0].MemoryID != "c" || all[0].Interactions != 2 {
				return fmt.Errorf("%v, %w", all, err)
			}
			return err
		},
		"tenants": func(s *badger.Store) error {
			all, err := s.Tenants(ctx)
			if !slices.Equal(all, []string{""}) {
				return fmt.Errorf("%q, %w", all, err)
			}
			return err
		},
		"remove": func(s *badger.Store) error {
			if err := s.Remove(ctx, "c"); err != nil {
				return err
			}
			if got, err := s.History(ctx, "c"); err != nil || len(got) > 0 {
				return fmt.Errorf("after the removal: %v, %w", got, err)
			}
			return nil
		},
		"update session": func(s *badger.Store) error { return s.UpdateSession(ctx, "c", setVariable("a", "1")) },
		"append without inbox": func(s *badger.Store) error {
			err := s.Append(ctx, interaction("c", "2"))
			got, historyErr := s.History(ctx, "c")
			if len(got) != 3 || got[2].ID != "2" {
				return fmt.Errorf("%v", got)
			}
			return errors.Join(err, historyErr)
		},
		"backup": func(s *badger.Store) error {
			var b bytes.Buffer
			if err := s.Backup(ctx, &b); err != nil {
				return err
			}
			dir := filepath.Join(t.TempDir(), "memory")
			if err := tenant(dir, "").Restore(ctx, &b); err != nil {
				return err
			}
			checkHistory(t, dir, "c", 2)
			return nil
		},
		"check": func(s *badger.Store) error {
			damage, err := s.Check(ctx)
			if len(damage) > 0 {
				return fmt.Errorf("%v", damage)
			}
			return err
		},
	} {
		for _, empty := range []bool{true, false} { // before the append
			dir := t.TempDir()
			if !empty {
				must(t, tenant(dir, "").Append(ctx, interaction("c", "0")))
			}
			post(t, dir, "c", 0, 2)
			if err := see(tenant(dir, "")); err != nil {
				t.Errorf("%s, empty store %v: %v", name, empty, err)
			}
			if n := inboxSize(t, dir); n != 0 {
				t.Errorf("%s, empty store %v: %d bytes are left in the inbox", name, empty, n)
			}
		}
	}
}

func TestRestoreDoesNotReplaceAnInbox(t *testing.T) {
	raw := backup(t, t.TempDir())
	dir := t.TempDir()
	post(t, dir, "c", 0, 1)
	if err := tenant(dir, "").Restore(t.Context(), bytes.NewReader(raw)); !errors.Is(err, os.ErrExist) {
		t.Errorf("restore: %v", err)
	}
	checkHistory(t, dir, "c", 1)
}

// Tenants share the inbox.
func TestInboxKeepsTenantsApart(t *testing.T) {
	dir := t.TempDir()
	for i := range 6 {
		s := badger.Open(dir, badger.Options{Inbox: 10_000, Tenant: []string{"", "a", "b"}[i%3]})
		must(t, s.Append(t.Context(), interaction("c", fmt.Sprint(i)), interaction("d", fmt.Sprint(i))))
	}
	for i, name := range []string{"", "a", "b"} {
		for _, id := range []string{"c", "d"} {
			got, err := tenant(dir, name).History(t.Context(), id)
			if err != nil || len(got) != 2 || got[0].ID != fmt.Sprint(i) || got[1].ID != fmt.Sprint(i+3) {
				t.Errorf("tenant %q, memory %q: %v, %v", name, id, got, err)
			}
		}
	}
}

// An inbox is imported before it exceeds its size, and large appends do not use it.
func TestInboxIsBounded(t *testing.T) {
	dir := t.TempDir()
	s := badger.Open(dir, badger.Options{Inbox: 1000})
	for i := range 20 {
		must(t, s.Append(t.Context(), interaction("c", fmt.Sprint(i))))
		if n := inboxSize(t, dir); n > 1000 {
			t.Fatalf("%d bytes after %d appends", n, i+1)
		}
	}
	checkHistory(t, dir, "c", 20)
	big := interaction("c", "20")
	big.Answer = strings.Repeat("x", 100_000)
	must(t, withInbox(dir).Append(t.Context(), big))
	if n := inboxSize(t, dir); n != 0 {
		t.Errorf("a large append is in the inbox: %d bytes", n)
	}
	checkHistory(t, dir, "c", 21)
}

// A full inbox of replacements exceeds one transaction of the store.
func TestFullInboxIsImported(t *testing.T) {
	dir := t.TempDir()
	for _, answer := range []string{"x", "y"} {
		for i := range 5 {
			in := interaction("c", fmt.Sprint(i))
			in.Answer = strings.Repeat(answer, 49_000)
			must(t, withInbox(dir).Append(t.Context(), in))
		}
		if n := inboxSize(t, dir); n < 245_000 {
			t.Errorf("%d bytes", n)
		}
		checkHistory(t, dir, "c", 5)
	}
	for i := range 1200 {
		must(t, withInbox(dir).Append(t.Context(), interaction(fmt.Sprint("own", i), "0")))
	}
	if all, err := tenant(dir, "").List(t.Context()); err != nil || len(all) != 1201 {
		t.Errorf("%d conversations, %v", len(all), err)
	}
	checkIntact(t, dir)
}

func TestInboxNeedsFreeSpace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "memory")
	err := badger.Open(dir, badger.Options{FreeSpace: 1 << 60, Inbox: 1000}).Append(t.Context(), interaction("c", "0"))
	var full *badger.FullError
	if !errors.As(err, &full) || stopCode(err) != stop.StoreFull {
		t.Errorf("got %v", err)
	}
}

func TestClosedStoreTakesNoAppend(t *testing.T) {
	s := withInbox(t.TempDir())
	must(t, s.Close())
	if err := s.Append(t.Context(), interaction("c", "0")); err == nil {
		t.Error("no error")
	}
}

func TestAppendWaitsForTheInbox(t *testing.T) {
	dir := t.TempDir()
	post(t, dir, "c", 0, 1)
	release := lockFor(t, filepath.Join(dir, "pex-store.inbox.lock"))
	var locked *badger.LockedError
	s := badger.Open(dir, badger.Options{Inbox: 10_000, LockWait: time.Millisecond})
	if err := s.Append(t.Context(), interaction("c", "x")); !errors.As(err, &locked) || stopCode(err) != stop.StoreUnavailable {
		t.Errorf("append: %v", err)
	}
	if _, err := s.History(t.Context(), "c"); !errors.As(err, &locked) {
		t.Errorf("history: %v", err)
	}
	done := make(chan error)
	go func() { done <- withInbox(dir).Append(t.Context(), interaction("c", "1")) }()
	spin(1000)
	release()
	must(t, <-done)
	checkHistory(t, dir, "c", 2)
}

// An append is synced before it counts; the names of the files are synced once.
func TestInboxSyncs(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "memory")
	var got []string
	stop := regular.ObserveSyncs(func(path string) { got = append(got, strings.TrimPrefix(path, parent)) })
	defer stop()
	post(t, dir, "c", 0, 2)
	if want := []string{"", "/memory/pex-store.inbox", "/memory", "/memory/pex-store.inbox"}; !slices.Equal(got, want) {
		t.Errorf("append syncs %q, want %q", got, want)
	}
	got = nil
	checkHistory(t, dir, "c", 2)
	got = slices.DeleteFunc(got, func(path string) bool { return !strings.Contains(path, "inbox") })
	if want := []string{"/memory/pex-store.inbox.lock", "/memory/pex-store.inbox"}; !slices.Equal(got, want) {
		t.Errorf("import syncs %q, want %q", got, want)
	}
}

// A process that is killed during an import leaves the inbox, or only its lines. Importing them again changes nothing.
func TestImportIsRepeatable(t *testing.T) {
	dir, files := t.TempDir(), [][]byte{nil, nil}
	names := []string{filepath.Join(dir, "pex-store.inbox"), filepath.Join(dir, "pex-store.inbox.lock")}
	post(t, dir, "c", 0, 3)
	must(t, withInbox(dir).Append(t.Context(), interaction("c", "1"), interaction("d", "0"))) // replaces one
	for i, name := range names {
		raw, err := os.ReadFile(name)
		must(t, err)
		files[i] = raw
	}
	checkHistory(t, dir, "c", 3)
	for _, left := range [][]string{names, names[:1]} {
		for i, name := range left {
			must(t, os.WriteFile(name, files[i], 0o600))
		}
		checkHistory(t, dir, "c", 3)
		for i, name := range left {
			must(t, os.WriteFile(name, files[i], 0o600))
		}
		post(t, dir, "d", 1, 2)
		checkHistory(t, dir, "c", 3)
		checkHistory(t, dir, "d", 2)
	}
	checkIntact(t, dir)
}

// BenchmarkAppendToInbox includes an import whenever the inbox is full.
func BenchmarkAppendToInbox(b *testing.B) {
	s := withInbox(b.TempDir())
	in := interaction("c", "")
	in.Answer = strings.Repeat("x", 2000)
	for i := 0; b.Loop(); i++ {
		in.ID = fmt.Sprint(i)
		if err := s.Append(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}
