package disktest_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/engine/disktest"
	"github.com/pexctl/pex/engine/regular"
)

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func sync(t *testing.T, path string) {
	t.Helper()
	if err := regular.SyncPath(path); err != nil {
		t.Fatal(err)
	}
}

// left returns the content of a file after a power loss, or "gone".
func left(t *testing.T, m disktest.Image, choose disktest.Choice, name string) string {
	t.Helper()
	dir := t.TempDir()
	if err := m.Write(dir, choose); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "gone"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestOnlyWhatIsSyncedIsDurable(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "old", "old")
	disk := disktest.Watch(t, dir)
	check := func(name, want string) {
		t.Helper()
		if got := left(t, disk.Image(), disktest.Durable, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	write(t, dir, "old", "changed")
	write(t, dir, "new", "1")
	check("old", "old")
	check("new", "gone")
	if err := regular.SyncDir(dir); err != nil {
		t.Fatal(err)
	}
	check("new", "") // the name without the content
	sync(t, filepath.Join(dir, "new"))
	check("new", "1")
	write(t, dir, "new", "12")
	check("new", "1")
	if got := left(t, disk.Image(), disktest.Written, "new"); got != "12" {
		t.Errorf("programs see %q", got)
	}

	write(t, dir, "unnamed", "1")
	sync(t, filepath.Join(dir, "unnamed"))
	check("unnamed", "gone")
	if err := os.Remove(filepath.Join(dir, "new")); err != nil {
		t.Fatal(err)
	}
	check("new", "1")
	if got := left(t, disk.Image(), disktest.Written, "new"); got != "gone" {
		t.Errorf("programs see %q", got)
	}
	if err := regular.SyncDir(dir); err != nil {
		t.Fatal(err)
	}
	check("new", "gone")
}

func TestASyncTakesEffectWhenItHasCompleted(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "f", "a")
	disk := disktest.Watch(t, dir)
	write(t, dir, "f", "ab")
	var got []string
	disk.OnSync = func(path string) {
		if len(got) == 1 {
			write(t, dir, "f", "abc") // this sync does not cover it
		}
		got = append(got, path+" "+left(t, disk.Image(), disktest.Durable, "f"))
	}
	sync(t, filepath.Join(dir, "f"))
	if s := strings.Join(got, ", "); s != "f a, f a, f ab" {
		t.Error(s)
	}
}

func TestPartlyKeepsWhatIsDurable(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "f", "ab")
	disk := disktest.Watch(t, dir)
	write(t, dir, "f", "abcd")
	write(t, dir, "new", "")
	seen, r := map[string]bool{}, rand.New(rand.NewPCG(1, 2))
	for range 100 {
		seen[left(t, disk.Image(), disktest.Partly(r), "f")] = true
		seen[left(t, disk.Image(), disktest.Partly(r), "new")] = true
	}
	if len(seen) != 5 || !seen["ab"] || !seen["abc"] || !seen["abcd"] || !seen[""] || !seen["gone"] {
		t.Error(seen)
	}
}

func TestAKilledProcessSyncsNothing(t *testing.T) {
	dir, next := t.TempDir(), t.TempDir()
	disk := disktest.Watch(t, dir)
	write(t, dir, "f", "ab")
	killed := disk.Image()
	if err := killed.Write(next, disktest.Written); err != nil {
		t.Fatal(err)
	}
	later := disktest.Watch(t, next)
	later.Inherit(killed)
	if m := later.Image(); left(t, m, disktest.Durable, "f") != "gone" || !m.Equal(killed, disktest.Durable) || !m.Equal(killed, disktest.Written) {
		t.Error(m)
	}
}

func TestSkippedSyncsAreOmitted(t *testing.T) {
	dir := t.TempDir()
	disktest.Skip(t, dir)
	write(t, dir, "f", "")
	disk := disktest.Watch(t, filepath.Join(dir, "other"))
	disk.OnSync = func(path string) { t.Error(path) }
	sync(t, filepath.Join(dir, "f"))
}
