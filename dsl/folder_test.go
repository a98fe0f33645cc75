package dsl_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/specfs"
)

// TestFolderListsWhatToolsSee: hidden files are neither listed nor counted, and
// hide nothing else. Only names below the folder matter, not its own.
func TestFolderListsWhatToolsSee(t *testing.T) {
	inFolder(t, map[string]string{
		"spec.yaml": head, "data/.env": "", "data/.env.local": "", "data/.git/config": "", "data/.pex/runs/r": "", "data/a.txt": "a", "data/sub/.env": "", "data/sub/b.txt": "bb",
		".env.d/c.txt": "ccc",
	})
	if err := os.Symlink("a.txt", filepath.Join("data", "link")); err != nil {
		t.Fatal(err)
	}
	spec, found := dsl.Load("spec.yaml", options())
	if found.Failed() {
		t.Fatal(found)
	}
	a, b := specfs.FileEntry{Name: "a.txt", Size: 1}, specfs.FileEntry{Name: "sub/b.txt", Size: 2}
	for _, test := range []struct {
		folder string
		most   int
		want   []specfs.FileEntry
	}{
		{"data", 2, []specfs.FileEntry{a, b}},
		{"data", 1, []specfs.FileEntry{a, b}},
		{"data", 0, []specfs.FileEntry{a}},
		{".env.d", 2, []specfs.FileEntry{{Name: "c.txt", Size: 3}}},
		{"none", 2, nil},
	} {
		got, err := spec.Folder(filepath.Join(spec.Dir, test.folder), test.most)
		if err != nil {
			t.Errorf("%s: %v", test.folder, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s, at most %d (-want +got):\n%s", test.folder, test.most, diff)
		}
	}
}
