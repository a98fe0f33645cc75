package badger_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/providers/badger"
)

// harm is a way to damage a file.
type harm struct {
	name string
	do   func(path string, raw []byte) error
}

// harms returns the ways to damage a file of the given size.
func harms(size int) []harm {
	out := []harm{
		{"deleted", func(path string, _ []byte) error { return os.Remove(path) }},
		{"emptied", func(path string, _ []byte) error { return os.Truncate(path, 0) }},
		{"halved", func(path string, raw []byte) error { return os.Truncate(path, int64(len(raw)/2)) }},
		{"zeroed", func(path string, raw []byte) error { return os.WriteFile(path, make([]byte, len(raw)), 0o600) }},
	}
	at := []int{0, 1, 4, 9, 17, size / 5, size / 3, size / 2, 2 * size / 3, size - 9, size - 2, size - 1}
	slices.Sort(at)
	for _, n := range slices.Compact(at) {
		if n < 0 || n >= size {
			continue
		}
		out = append(out, harm{fmt.Sprint("flipped at ", n), func(path string, raw []byte) error {
			raw[n] ^= 0x21
			return os.WriteFile(path, raw, 0o600)
		}})
	}
	return out
}

// storedFile is a file of a store. Badger allocates files that are larger than their content.
type storedFile struct {
	name    string
	content []byte // without zeros at its end
	size    int64
}

// readFiles returns the files of a store.
func readFiles(t *testing.T, dir string) (files []storedFile) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		must(t, err)
		files = append(files, storedFile{e.Name(), bytes.Clone(bytes.TrimRight(raw, "\x00")), int64(len(raw))})
	}
	return files
}

// writeFiles writes a copy of a store.
func writeFiles(t *testing.T, dir string, files []storedFile) {
	t.Helper()
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		must(t, os.WriteFile(path, f.content, 0o600))
		must(t, os.Truncate(path, f.size))
	}
}

// eachHarm applies each harm to each file in a copy of a store.
func eachHarm(t *testing.T, from string, check func(t *testing.T, dir string)) {
	t.Helper()
	files := readFiles(t, from)
	for _, f := range files {
		for _, h := range harms(int(f.size)) {
			t.Run(f.name+" "+h.name, func(t *testing.T) {
				dir := t.TempDir()
				writeFiles(t, dir, files)
				path := filepath.Join(dir, f.name)
				raw, err := os.ReadFile(path)
				must(t, err)
				must(t, h.do(path, raw))
				check(t, dir)
			})
		}
	}
}

func skipUnderRace(t *testing.T) {
	t.Helper()
	if raceDetector {
		t.Skip("Badger 4.9.6 races with itself when it gives up opening damaged tables; `go test ./...` runs this")
	}
}

// After damage to any file, the data is complete or the damage is reported.
func TestDamageToAnyFileOfClosedStore(t *testing.T) {
	skipUnderRace(t)
	from := t.TempDir()
	backup(t, from)
	all := contents(t, from)
	eachHarm(t, from, func(t *testing.T, dir string) {
		if _, err := badger.Open(dir, badger.Options{}).Check(t.Context()); err != nil {
			t.Fatalf("check: %v", err)
		}
		for _, name := range []string{"", "acme"} {
			s := badger.Open(dir, badger.Options{Tenant: name, Idle: time.Hour})
			defer s.Close() // its error was checked above
			for _, id := range []string{"c", "d", "removed"} {
				history, err := s.History(t.Context(), id)
				if isCorrupt(t, err) {
					continue
				}
				session, err := s.Session(t.Context(), id)
				if isCorrupt(t, err) || len(history)+len(session.Variables) == 0 && id == "removed" {
					continue
				}
				if diff := cmp.Diff(all[fmt.Sprintf("%q %q", name, id)], any([]any{history, session})); diff != "" {
					t.Errorf("tenant %q, memory %q has changed without an error:\n%.500s", name, id, diff)
				}
			}
		}
	})
}

// isCorrupt reports whether err is an error about damage. Other errors fail the test.
func isCorrupt(t *testing.T, err error) bool {
	t.Helper()
	var corrupt *badger.CorruptError
	var newer *badger.NewerError
	if err != nil && !errors.As(err, &corrupt) && !errors.As(err, &newer) {
		t.Errorf("not named as damage: %v", err)
	}
	return err != nil
}

// After damage to any file of a killed store, the acknowledged data is complete or the damage is reported.
func TestDamageToAnyFileOfKilledStore(t *testing.T) {
	skipUnderRace(t)
	from, acked := killedWithAcks(t)
	eachHarm(t, from, func(t *testing.T, dir string) {
		got, err := badger.Open(dir, badger.Options{}).History(t.Context(), "shared")
		if isCorrupt(t, err) {
			return
		}
		stored := map[string]bool{}
		for _, in := range got {
			stored[in.ID] = true
		}
		for _, id := range acked {
			if !stored[id] {
				t.Fatalf("%s of %d acknowledged was lost without an error; %d are stored", id, len(acked), len(got))
			}
		}
	})
}

// killedWithAcks returns a store whose process was killed in a lease that wrote, and the acknowledged ids.
func killedWithAcks(t *testing.T) (dir string, acked []string) {
	t.Helper()
	dir = t.TempDir()
	cmd, out := start(t, dir, "k", 20, "PEX_TEST_IDLE=1h", "PEX_TEST_STAY=1")
	lines := bufio.NewScanner(out)
	for len(acked) < 20 && lines.Scan() {
		acked = append(acked, strings.TrimSpace(lines.Text()))
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	if isClosed(t, dir) {
		t.Fatal("the store was closed")
	}
	return dir, acked
}

// isClosed reports whether the store's last lease has ended.
func isClosed(t *testing.T, dir string) bool {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "pex-store.json"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Contains(string(raw), `"closed"`)
}
