package badger_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/providers/badger"
)

// contents returns the data of a store by tenant and memory id.
func contents(t *testing.T, dir string) map[string]any {
	t.Helper()
	out := map[string]any{}
	tenants, err := tenant(dir, "").Tenants(t.Context())
	must(t, err)
	for _, name := range tenants {
		s := badger.Open(dir, badger.Options{Tenant: name, Idle: time.Hour})
		list, err := s.List(t.Context())
		must(t, err)
		for _, c := range list {
			history, err := s.History(t.Context(), c.MemoryID)
			must(t, err)
			session, err := s.Session(t.Context(), c.MemoryID)
			must(t, err)
			out[fmt.Sprintf("%q %q", name, c.MemoryID)] = []any{history, session}
		}
		must(t, s.Close())
	}
	return out
}

// backup fills a store and returns its backup.
func backup(t *testing.T, dir string) []byte {
	t.Helper()
	for _, name := range []string{"", "acme"} {
		for i := range 3 {
			in := interaction("c", fmt.Sprint(i))
			in.Answer = strings.Repeat(name+"x", 40_000)
			must(t, tenant(dir, name).Append(t.Context(), in, interaction("d", fmt.Sprint(i))))
		}
		must(t, tenant(dir, name).UpdateSession(t.Context(), "c", setVariable("of", `"`+name+`"`)))
	}
	must(t, tenant(dir, "").Append(t.Context(), interaction("removed", "0")))
	must(t, tenant(dir, "").Remove(t.Context(), "removed"))
	var b bytes.Buffer
	must(t, tenant(dir, "").Backup(t.Context(), &b))
	return b.Bytes()
}

func TestRestoreRecreatesTheStore(t *testing.T) {
	from := t.TempDir()
	raw := backup(t, from)
	for name, dir := range map[string]string{"missing": filepath.Join(t.TempDir(), "a", "memory"), "empty": t.TempDir()} {
		must(t, tenant(dir, "").Restore(t.Context(), bytes.NewReader(raw)))
		if diff := cmp.Diff(contents(t, from), contents(t, dir)); diff != "" {
			t.Errorf("%s: (-was +restored)\n%s", name, diff)
		}
		checkIntact(t, dir)
		must(t, tenant(dir, "").Append(t.Context(), interaction("d", "3")))
		checkHistory(t, dir, "d", 4)
		checkNoLeftovers(t, dir)
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// checkNoLeftovers checks that a restore left no temporary directory next to dir.
func checkNoLeftovers(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(dir))
	must(t, err)
	for _, e := range entries {
		if strings.Contains(e.Name(), "restoring") {
			t.Errorf("%s remains", e.Name())
		}
	}
}

func TestDamagedBackupIsRejected(t *testing.T) {
	raw := backup(t, t.TempDir())
	bad := map[string][]byte{
		"empty": {}, "not a backup": []byte("{\"interactions\": []}, and so on and on"),
		"trailing data": append(bytes.Clone(raw), 0), "twice": bytes.Repeat(raw, 2),
		"newer": append([]byte("pex-memory-backup 2\n"), raw[20:]...),
	}
	for _, n := range []int{1, 19, 20, 22, 24, len(raw) / 2, len(raw) - 36, len(raw) - 32, len(raw) - 1} {
		bad[fmt.Sprint("truncated at ", n)] = raw[:n]
	}
	for _, n := range []int{0, 10, 20, 21, 23, 24, 100, len(raw) / 3, len(raw) / 2, len(raw) - 36, len(raw) - 33, len(raw) - 1} {
		flipped := bytes.Clone(raw)
		flipped[n] ^= 0x10
		bad[fmt.Sprint("flipped at ", n)] = flipped
	}
	dir := filepath.Join(t.TempDir(), "memory")
	for name, b := range bad {
		err := tenant(dir, "").Restore(t.Context(), bytes.NewReader(b))
		if _, ok := errors.AsType[*badger.BackupError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%s: the directory exists: %v", name, err)
		}
		checkNoLeftovers(t, dir)
	}
}

func TestRestoreDoesNotOverwrite(t *testing.T) {
	raw := backup(t, t.TempDir())
	dir := t.TempDir()
	fill(t, dir, 2)
	if err := tenant(dir, "").Restore(t.Context(), bytes.NewReader(raw)); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	checkHistory(t, dir, "c", 2)
	checkNoLeftovers(t, dir)

	foreign := t.TempDir()
	must(t, os.WriteFile(filepath.Join(foreign, "thesis.txt"), nil, 0o600))
	if err := tenant(foreign, "").Restore(t.Context(), bytes.NewReader(raw)); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
}

func TestFailedRestoreLeavesNothing(t *testing.T) {
	raw := backup(t, t.TempDir())
	dir := filepath.Join(t.TempDir(), "memory")
	err := badger.Open(dir, badger.Options{FreeSpace: 1 << 60}).Restore(t.Context(), bytes.NewReader(raw))
	if _, ok := errors.AsType[*badger.FullError](err); !ok {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := tenant(dir, "").Restore(ctx, bytes.NewReader(raw)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory exists: %v", err)
	}
	checkNoLeftovers(t, dir)
}

func TestBackupReturnsWriteError(t *testing.T) {
	dir := t.TempDir()
	backup(t, dir)
	broken := errors.New("broken")
	if err := tenant(dir, "").Backup(t.Context(), failingWriter{broken}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	checkIntact(t, dir)
}

type failingWriter struct{ err error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.err }

func TestBackupOfOpenStore(t *testing.T) {
	dir := t.TempDir()
	s := badger.Open(dir, badger.Options{Idle: 1 << 40})
	defer s.Close()
	must(t, s.Append(t.Context(), interaction("c", "0")))
	var b bytes.Buffer
	must(t, tenant(dir, "").Backup(t.Context(), &b))
	must(t, s.UpdateSession(t.Context(), "c", func(*memory.Session) error { return nil }))
	to := filepath.Join(t.TempDir(), "memory")
	must(t, tenant(to, "").Restore(t.Context(), &b))
	checkHistory(t, to, "c", 1)
}
