package golden

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/text"
)

// Unused returns the goldens in the given folders (absolute paths) that no case used. It skips folders with cases
// that have not completed, with files that specs or tests read, and folders behind a symbolic link. Call it only
// after all cases of these folders have run. Accepting a returned change removes the file.
func (t *Tree) Unused(folders ...string) ([]Change, error) {
	done, err := t.finished(folders)
	if err != nil {
		return nil, err
	}
	var out []Change
	for _, rel := range done {
		more, err := t.unusedIn(rel)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("golden %s: %w", rel, withoutPath(err))
		}
		out = append(out, more...)
	}
	return out, nil
}

// Folders returns the absolute, sorted paths of the folders with goldens.
func (t *Tree) Folders() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for rel, f := range t.folders {
		if f.shared {
			out = append(out, filepath.Join(t.dir, rel))
		}
	}
	slices.Sort(out)
	return out
}

// finished returns those of the folders that no case can still use, sorted and relative to the root.
func (t *Tree) finished(folders []string) ([]string, error) {
	var out []string
	for _, path := range folders {
		rel, err := t.relPath(path)
		if err != nil {
			return nil, err
		}
		out = append(out, rel)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(rel string) bool {
		f := t.folders[rel]
		return f != nil && f.open > 0 || t.hasInput(rel)
	}), nil
}

// hasInput reports whether a folder contains a file that specs or tests read.
func (t *Tree) hasInput(dir string) bool {
	for rel := range t.inputs {
		if filepath.Dir(rel) == dir {
			return true
		}
	}
	return false
}

// unusedIn returns the unused goldens of one folder. Symbolic links are skipped, because Accept writes regular
// files only.
func (t *Tree) unusedIn(rel string) ([]Change, error) {
	if t.hasSymlink(rel) {
		return nil, nil
	}
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
		at := filepath.Join(rel, e.Name())
		if place, _ := rank(e.Name()); place < 0 && !isTempFile(e.Name()) || !e.Type().IsRegular() || t.owned(at) {
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

// hasSymlink reports whether the path of a folder contains a symbolic link. Cases may use such files by another path.
func (t *Tree) hasSymlink(rel string) bool {
	for ; rel != "."; rel = filepath.Dir(rel) {
		if info, err := t.root.Lstat(rel); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// tempNames matches the temporary files that a killed process leaves behind; see tempName.
var tempNames = text.Regexp(`^\.(.+)\.[0-9a-f]{16}\.next$`)

func isTempFile(name string) bool {
	m := tempNames().FindStringSubmatch(name)
	if m == nil {
		return false
	}
	place, _ := rank(m[1])
	return place >= 0
}

func (t *Tree) owned(rel string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.owners[rel]
	return ok
}
