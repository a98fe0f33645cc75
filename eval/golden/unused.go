package golden

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Unused lists the goldens in folders (absolute) that no case asked for. A
// folder is left out while one of its cases has not been compared to its end,
// where files lie that somebody keeps, and where a symbolic link leads to it.
// Only who runs every case of these folders knows that nobody asks for a
// golden. Accepting such a change removes the file.
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

// Folders lists the folders, absolute and sorted, that the tree's cases keep
// goldens in.
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

// finished is those of some folders that no case may still use, sorted.
func (t *Tree) finished(folders []string) ([]string, error) {
	var out []string
	for _, path := range folders {
		rel, err := t.below(path)
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
		return f != nil && f.open > 0 || t.keeps(rel)
	}), nil
}

// keeps says that a folder holds a file that somebody keeps.
func (t *Tree) keeps(dir string) bool {
	for rel := range t.kept {
		if filepath.Dir(rel) == dir {
			return true
		}
	}
	return false
}

// unused is what nobody asked for in one folder. A link is none of ours: Accept
// writes files.
func (t *Tree) unused(rel string) ([]Change, error) {
	if t.linked(rel) {
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
		if place, _ := rank(e.Name()); place < 0 && !isDraft(e.Name()) || !e.Type().IsRegular() || t.owned(at) {
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

// linked says that the way to a folder goes through a symbolic link: what lies
// there is known by another path, and may be asked for by that.
func (t *Tree) linked(rel string) bool {
	for ; rel != "."; rel = filepath.Dir(rel) {
		if info, err := t.root.Lstat(rel); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// drafts are the names of goldens that were being written when the program was
// killed; see besides.
var drafts = regexp.MustCompile(`^\.(.+)\.[0-9a-f]{16}\.next$`)

func isDraft(name string) bool {
	m := drafts.FindStringSubmatch(name)
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
