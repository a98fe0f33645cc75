package golden

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Tree is the golden files below a project's root: nothing outside it is read
// or written, by a symbolic link neither. It is safe for concurrent use.
type Tree struct {
	dir    string
	root   *os.Root
	strict bool

	mu      sync.Mutex
	owners  map[string]string // of files, by their path below the root
	folders map[string]*folder
}

// folder is what is known of a folder that cases keep goldens in.
type folder struct {
	open int // cases that have not come to their end
}

// Open opens the goldens below a root; Close gives them up. A strict tree is
// only read: Update and Accept give ErrStrict.
func Open(root string, strict bool) (*Tree, error) {
	dir, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("golden files: %w", err)
	}
	r, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("golden files: %w", err)
	}
	return &Tree{dir: dir, root: r, strict: strict, owners: map[string]string{}, folders: map[string]*folder{}}, nil
}

// Close gives up the tree and the changes it gave.
func (t *Tree) Close() error { return t.root.Close() }

// Case is the goldens of one case. path is absolute: a folder, or a file .md
// that holds the only prompt of the case (its other artefacts are then not
// compared). owner names the case among all of the tree, and in messages: a
// golden that two cases ask for is an error of the second. Without a mask only
// what is volatile anywhere is hidden.
func (t *Tree) Case(owner, path string, m *Mask) (*Case, error) {
	rel, err := t.below(path)
	if err != nil {
		return nil, err
	}
	if m == nil {
		m = &Mask{}
	}
	c := &Case{tree: t, owner: owner, rel: rel, mask: m}
	if !single(rel) {
		t.mu.Lock()
		defer t.mu.Unlock()
		f := t.folders[rel]
		if f == nil {
			f = &folder{}
			t.folders[rel] = f
		}
		f.open++
		c.folder = f
	}
	return c, nil
}

// below is a path from the root on.
func (t *Tree) below(path string) (string, error) {
	rel, err := filepath.Rel(t.dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("golden %s leads out of the project: files are kept below %s", path, t.dir)
	}
	return rel, nil
}

// claim notes whose golden a file is.
func (t *Tree) claim(rel, owner string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if first, ok := t.owners[rel]; ok && first != owner {
		return fmt.Errorf("%s is already the golden of %s: another one is needed for %s (key golden)", rel, first, owner)
	}
	t.owners[rel] = owner
	return nil
}

// Unused lists the goldens that no case asked for, in the folders of the
// tree's cases and in others (absolute: those of cases that are gone). A folder
// is left out while one of its cases has not been compared. Only who runs
// every case of these folders knows that nobody asks for a golden: do not call
// it when cases were filtered out. Accepting such a change removes the file.
func (t *Tree) Unused(folders ...string) ([]Change, error) {
	done, err := t.finished(folders)
	if err != nil {
		return nil, err
	}
	var out []Change
	for _, rel := range done {
		more, err := t.unused(rel)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("golden %s: %w", rel, plain(err))
		}
		out = append(out, more...)
	}
	return out, nil
}

// finished is the folders that no case under way may still use, sorted.
func (t *Tree) finished(also []string) ([]string, error) {
	var out []string
	for _, path := range also {
		rel, err := t.below(path)
		if err != nil {
			return nil, err
		}
		out = append(out, rel)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for rel := range t.folders {
		out = append(out, rel)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(rel string) bool {
		f := t.folders[rel]
		return f != nil && f.open > 0
	}), nil
}

// unused is what nobody asked for in one folder. A link is none of ours: Accept
// writes files.
func (t *Tree) unused(rel string) ([]Change, error) {
	dir, err := t.root.Open(rel)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var out []Change
	for _, e := range entries {
		place, _ := rank(e.Name())
		at := filepath.Join(rel, e.Name())
		if place < 0 || !e.Type().IsRegular() || t.owned(at) {
			continue
		}
		text, err := t.read(at)
		if err != nil {
			return nil, err
		}
		out = append(out, Change{Name: e.Name(), File: filepath.Join(t.dir, at), Kind: Unused, Want: text, tree: t, rel: at})
	}
	return out, nil
}

func (t *Tree) owned(rel string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.owners[rel]
	return ok
}

// plain is an error without the path that stands around it already.
func plain(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		if strings.Contains(pe.Err.Error(), "escapes") {
			return errors.New("a symbolic link leads out of the project")
		}
		return pe.Err
	}
	return err
}
