package goldentest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// Archive is a txtar file: a comment, and named files with the inputs and expected
// outputs of one case. It is safe for concurrent use.
type Archive struct {
	path string
	mu   sync.Mutex // guards tree, and the file on disk
	tree *txtar.Archive
}

// Txtar reads an archive.
func Txtar(t T, path string) *Archive {
	t.Helper()
	tree, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatalf("golden: %v", err)
		return nil
	}
	for i, f := range tree.Files {
		if slices.ContainsFunc(tree.Files[:i], func(g txtar.File) bool { return g.Name == f.Name }) {
			t.Fatalf("golden: duplicate file -- %[2]s -- in %[1]s", path, f.Name)
			return nil
		}
	}
	return &Archive{path: path, tree: tree}
}

// Each runs f as a subtest for every archive that matches a filepath.Match pattern. The
// test fails if none matches.
func Each(t *testing.T, pattern string, f func(t *testing.T, a *Archive)) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("golden: no file matches %s (%v)", pattern, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), func(t *testing.T) {
			f(t, Txtar(t, path))
		})
	}
}

// Comment returns the text before the first file.
func (a *Archive) Comment() string { return string(a.tree.Comment) }

// Names returns the names of the files, in order.
func (a *Archive) Names() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := make([]string, len(a.tree.Files))
	for i, f := range a.tree.Files {
		out[i] = f.Name
	}
	return out
}

// Has reports whether the archive contains a file.
func (a *Archive) Has(name string) bool { return slices.Contains(a.Names(), name) }

// Input returns the content of a file. The test fails if it does not exist.
func (a *Archive) Input(t T, name string) string {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	i := a.index(name)
	if i < 0 {
		t.Fatalf("golden: %s has no file -- %s --", a.path, name)
		return ""
	}
	return string(a.tree.Files[i].Data)
}

// Want compares got with a file of the archive. Both must end in a newline, which the
// txtar format requires. A missing file counts as empty.
func (a *Archive) Want(t T, name, got string) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	content := withNewline([]byte(got))
	var want []byte
	i := a.index(name)
	if i >= 0 {
		want = a.tree.Files[i].Data
	}
	if string(want) == string(content) {
		return
	}
	if !updating(t) {
		differs(t, a.path+" "+name, want, content)
		return
	}
	if txtar.NeedsQuote(content) {
		t.Fatalf("golden: %s: output %s contains a line like -- name --, which an archive cannot contain: use goldentest.File", a.path, name)
		return
	}
	if i < 0 {
		a.tree.Files = append(a.tree.Files, txtar.File{Name: name})
		i = len(a.tree.Files) - 1
	}
	a.tree.Files[i].Data = content
	write(t, a.path, txtar.Format(a.tree))
}

// Extract writes the files of the archive to a folder.
func (a *Archive) Extract(t T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatalf("golden: %v", err)
		return
	}
	if err := txtar.Write(a.tree, dir); err != nil {
		t.Fatalf("golden: %s: %v", a.path, err)
	}
}

func (a *Archive) index(name string) int {
	return slices.IndexFunc(a.tree.Files, func(f txtar.File) bool { return f.Name == name })
}
