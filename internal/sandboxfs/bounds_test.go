package sandboxfs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pexctl/pex/internal/sandboxfs"
)

// Names that are not UTF-8, or contain control characters, are not written.
func TestWriteRejectsUnprintableNames(t *testing.T) {
	dir := t.TempDir()
	tree := open(t, dir, "")
	for _, name := range []string{"a\xff.txt", "\xc3", "sub/\x80x", "a\nb", "a\x1bb"} {
		if _, err := tree.Write(t.Context(), name, []byte("x")); err == nil || !strings.Contains(err.Error(), "cannot be seen") {
			t.Errorf("%q: error %v", name, err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// A path may follow 40 links inside the root. One with more is rejected, so that it cannot reach excluded files.
func TestLimitOfLinks(t *testing.T) {
	dir := plant(t, "sub/a.txt")
	target := "sub"
	for i := range 41 {
		name := fmt.Sprintf("l%d", i+1)
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		target = name
	}
	tree := open(t, dir, "")
	if _, err := tree.Write(t.Context(), "l40/b.txt", []byte("x")); err != nil {
		t.Errorf("40 links: %v", err)
	}
	if _, err := tree.Write(t.Context(), "l41/b.txt", []byte("x")); err == nil {
		t.Error("41 links were followed")
	}
}

// Walk enters at most 100 nested folders.
func TestLimitOfDepth(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, strings.Repeat("d/", 105)), 0o755); err != nil {
		t.Fatal(err)
	}
	tree := open(t, dir, "")
	every, err := sandboxfs.ParseGlob("**")
	if err != nil {
		t.Fatal(err)
	}
	deepest := 0
	err = tree.Walk(t.Context(), ".", every, func(e sandboxfs.Entry) error {
		deepest = max(deepest, strings.Count(e.Path, "/")+1)
		return nil
	})
	if err != nil || deepest != 101 {
		t.Errorf("depth %d, %v; want the 100 that are entered, and the folder in the last", deepest, err)
	}
}
