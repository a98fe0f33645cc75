package sandboxfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pexctl/pex/engine/regular"
)

// A new file is synced before it is renamed, and its folder after. After a power failure it has the old or the new
// content.
func TestFileIsSyncedBeforeRename(t *testing.T) {
	dir := t.TempDir()
	tree := open(t, dir, "")
	target := filepath.Join(dir, "sub", "a.txt")
	var got []string
	stop := regular.ObserveSyncs(func(path string) {
		now, err := os.ReadFile(target)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		what := "folder"
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Error(err)
			}
			what = "file with " + string(content)
		} else if path != filepath.Dir(target) {
			what = path
		}
		got = append(got, what+" while the name leads to "+string(now))
	})
	defer stop()
	for _, content := range []string{"one", "two"} {
		if _, err := tree.Write(t.Context(), "sub/a.txt", []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"file with one while the name leads to ", "folder while the name leads to one",
		"file with two while the name leads to one", "folder while the name leads to two",
	}
	if !slices.Equal(got, want) {
		t.Errorf("synced %q, want %q", got, want)
	}
}
