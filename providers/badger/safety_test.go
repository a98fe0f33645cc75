package badger_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/regular"
	"github.com/pexctl/pex/providers/badger"
)

// Only a power loss would show these: every commit is synced, and reads are verified.
func TestOptionsAreDurable(t *testing.T) {
	o := badger.Settings(t.TempDir())
	if !o.SyncWrites || !o.VerifyValueChecksum || !o.DetectConflicts || o.ReadOnly || o.InMemory {
		t.Errorf("%+v", o)
	}
}

// The sentinel is synced before it replaces the old one, and its directory afterwards.
func TestSentinelIsSyncedBeforeRename(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "memory")
	var got []string
	stop := regular.ObserveSyncs(func(path string) {
		switch path {
		case dir:
			got = append(got, "directory")
		case filepath.Dir(dir):
			got = append(got, "parent")
		case filepath.Join(dir, "pex-store.json.new"):
			got = append(got, "sentinel")
		}
	})
	defer stop()
	fill(t, dir, 1)
	// The parent of a new store, then markOpening, markOpened, markWriting, markClosing and markClosed.
	want := []string{"parent", "sentinel", "directory", "sentinel", "directory", "sentinel", "sentinel", "directory", "sentinel"}
	if !slices.Equal(got, want) {
		t.Errorf("synced %q, want %q", got, want)
	}
}

// A witness with a wrong checksum is ignored.
func TestDamagedWitnessIsIgnored(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 3)
	path := filepath.Join(dir, "pex-store.count")
	raw, err := os.ReadFile(path)
	if err != nil || len(raw) != 12 {
		t.Fatal(len(raw), err)
	}
	raw[6] ^= 1 // the count is 256 more
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	checkHistory(t, dir, "c", 3)
}

func TestRecordVersionIsChecked(t *testing.T) {
	for version, ok := range map[int]bool{-1: false, 0: false, 1: true, 2: false} {
		raw, err := json.Marshal(map[string]any{"v": version, "interaction": interaction("c", "1")})
		if err != nil {
			t.Fatal(err)
		}
		in, err := badger.DecodeRecord(raw)
		if (err == nil) != ok || ok && in.ID != "1" {
			t.Errorf("version %d: %+v, %v", version, in, err)
		}
	}
}

// brokenReader is a stream that cannot be read.
type brokenReader struct{}

var errBroken = errors.New("the stream is broken")

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }

func TestUnreadableBackupLeavesNothing(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "memory")
	err := badger.Open(dir, badger.Options{}).Restore(t.Context(), brokenReader{})
	if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), dir) {
		t.Error(err)
	}
	if entries, err := os.ReadDir(parent); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// A file of the store replaced by a folder or a link neither crashes nor blocks the process.
func TestIrregularFileIsDamage(t *testing.T) {
	for _, name := range []string{"DISCARD", "MANIFEST", "pex-store.json", "pex-store.count", "pex-store.lock"} {
		for how, put := range map[string]func(path string) error{
			"folder": func(path string) error { return os.Mkdir(path, 0o700) },
			"link":   func(path string) error { return os.Symlink(os.DevNull, path) },
		} {
			dir := t.TempDir()
			fill(t, dir, 1)
			path := filepath.Join(dir, name)
			if err := errors.Join(os.Remove(path), put(path)); err != nil {
				t.Fatal(err)
			}
			if _, err := badger.Open(dir, badger.Options{}).History(t.Context(), "c"); err == nil || !strings.Contains(err.Error(), "not a regular file") && !strings.Contains(err.Error(), "is a directory") {
				t.Errorf("%s replaced by a %s: %v", name, how, err)
			}
		}
	}
}
