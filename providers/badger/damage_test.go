package badger_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/stop"
	"github.com/pexctl/pex/providers/badger"
)

// stopCode returns the stop code of an error, or "".
func stopCode(err error) stop.Code {
	var coded interface{ StopCode() stop.Code }
	if errors.As(err, &coded) {
		return coded.StopCode()
	}
	return ""
}

func glob(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("no %s: %v", pattern, err)
	}
	return found[0]
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestDamageIsReportedAndNotTreatedAsEmpty(t *testing.T) {
	if raceDetector {
		t.Skip("Badger 4.9.6 races with itself when it gives up opening damaged tables; `go test ./...` runs this")
	}
	remove := func(pattern string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(glob(t, dir, pattern)); err != nil {
				t.Fatal(err)
			}
		}
	}
	flip := func(pattern string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := glob(t, dir, pattern)
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			raw[len(raw)/3] ^= 0x40
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	empty := func(pattern string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Truncate(glob(t, dir, pattern), 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name   string
		damage func(*testing.T, string)
		names  string // expected in the message
	}{
		{"MANIFEST deleted", remove("MANIFEST"), "MANIFEST"},
		{"MANIFEST emptied", empty("MANIFEST"), ""},
		{"MANIFEST flipped", flip("MANIFEST"), ""},
		{"table deleted", remove("*.sst"), ".sst"},
		{"table flipped", flip("*.sst"), "checksum"},
		{"table emptied", empty("*.sst"), ""},
		{"key registry deleted", remove("KEYREGISTRY"), "KEYREGISTRY"},
		{"sentinel deleted", remove("pex-store.json"), "pex-store.json"},
		{"sentinel emptied", empty("pex-store.json"), "pex-store.json"},
		{"sentinel flipped", func(t *testing.T, dir string) { rewrite(t, dir, func(m map[string]any) { m["id"] = "" }) }, "pex-store.json"},
		{"fewer writes than recorded", func(t *testing.T, dir string) { rewrite(t, dir, func(m map[string]any) { m["writes"] = 99 }) }, "99"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, dir, 3)
			c.damage(t, dir)
			before := listing(t, dir)
			for range 2 {
				got, err := badger.Open(dir, badger.Options{}).History(t.Context(), "c")
				var corrupt *badger.CorruptError
				if !errors.As(err, &corrupt) || stopCode(err) != stop.StoreCorrupt || len(got) != 0 {
					t.Fatalf("got %d interactions, %v", len(got), err)
				}
				if !strings.Contains(err.Error(), c.names) || !strings.Contains(err.Error(), dir) {
					t.Errorf("message %q does not name %q", err, c.names)
				}
				if err := badger.Open(dir, badger.Options{}).Append(t.Context(), interaction("c", "x")); !errors.As(err, &corrupt) {
					t.Errorf("append: %v", err)
				}
			}
			if strings.Contains(before, ".sst") && !strings.Contains(listing(t, dir), ".sst") {
				t.Errorf("tables destroyed: %s, before %s", listing(t, dir), before)
			}
		})
	}
}

func rewrite(t *testing.T, dir string, change func(map[string]any)) {
	t.Helper()
	path := filepath.Join(dir, "pex-store.json")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	change(m)
	if raw, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestMissingMemFileIsDetected(t *testing.T) {
	dir := killedWhileWriting(t)
	files, err := filepath.Glob(filepath.Join(dir, "*.mem"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no .mem file: %s", listing(t, dir))
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	_, err = badger.Open(dir, badger.Options{}).History(t.Context(), "shared")
	if stopCode(err) != stop.StoreCorrupt || !strings.Contains(err.Error(), ".mem") {
		t.Errorf("got %v", err)
	}
}

// killedWhileWriting returns the directory of a store whose process was killed in a lease that wrote. Overlapping
// appends keep the lease open.
func killedWhileWriting(t *testing.T) string {
	t.Helper()
	for range 10 {
		dir := t.TempDir()
		cmd, out := start(t, dir, "busy", 1000)
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		raw, err := os.ReadFile(filepath.Join(dir, "pex-store.json"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), `"writing"`) {
			return dir
		}
	}
	t.Fatal("no kill hit a writing lease")
	return ""
}

func TestEmptyFileOfKilledProcessIsTolerated(t *testing.T) {
	for _, file := range []string{"00099.mem", "000099.vlog"} {
		dir := t.TempDir()
		fill(t, dir, 2)
		if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		checkHistory(t, dir, "c", 2)
	}
}

func TestNewerFormatIsRejected(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 1)
	rewrite(t, dir, func(m map[string]any) { m["format"] = 2 })
	_, err := badger.Open(dir, badger.Options{}).History(t.Context(), "c")
	var newer *badger.NewerError
	if !errors.As(err, &newer) || newer.Format != 2 {
		t.Errorf("got %v", err)
	}
}

func TestFullDiskIsDetectedBeforeOpening(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "memory")
	err := badger.Open(dir, badger.Options{FreeSpace: 1 << 60}).Append(t.Context(), interaction("c", "1"))
	var full *badger.FullError
	if !errors.As(err, &full) || stopCode(err) != stop.StoreFull {
		t.Fatalf("got %v", err)
	}
	if files := listing(t, dir); strings.Contains(files, "MANIFEST") {
		t.Errorf("the store was opened: %s", files)
	}
	fill(t, dir, 1)
	checkHistory(t, dir, "c", 1)
}
