package sandboxfs

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

const maxDepth = 100 // nested folders

// Entry is a file or folder found by Walk.
type Entry struct {
	Path string // below the root, slash-separated
	Dir  bool
	Size int64 // of a file, in bytes

	Modified time.Time // of a file
}

// Walk visits the files and folders below dir that match the glob, in order of their names, folders before their
// contents. It skips links to folders and unreadable entries. It returns the context's error, or the first error of
// visit.
func (t *Tree) Walk(ctx context.Context, dir string, g Glob, visit func(Entry) error) error {
	if _, err := t.follow(dir); err != nil {
		return err
	}
	if err := directory(t.root, dir); err != nil {
		return t.explain(dir, err)
	}
	return t.walk(ctx, dir, g, g.start(), 0, visit)
}

func (t *Tree) walk(ctx context.Context, dir string, g Glob, at state, depth int, visit func(Entry) error) error {
	for _, e := range t.entries(dir) {
		if err := ctx.Err(); err != nil {
			return err
		}
		name := path.Join(dir, e.Name())
		if _, hidden := t.excluded(e.Name()); hidden {
			continue
		}
		next := g.step(at, e.Name())
		if g.final(next) {
			if found, ok := t.entry(name); ok {
				if err := visit(found); err != nil {
					return err
				}
			}
		}
		if e.IsDir() && g.alive(next) && depth < maxDepth && t.open(name) {
			if err := t.walk(ctx, name, g, next, depth+1, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// open reports whether a folder may be entered, because it is not private.
func (t *Tree) open(name string) bool {
	_, err := t.follow(name)
	return err == nil
}

// entries reads a folder. Missing and unreadable folders are empty.
func (t *Tree) entries(dir string) []fs.DirEntry {
	f, err := t.openDir(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	all, _ := f.ReadDir(-1)
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all
}

// entry returns the entry of a name. ok is false for pipes, devices, and links that lead outside, nowhere, or to
// excluded files.
func (t *Tree) entry(name string) (Entry, bool) {
	info, err := t.Stat(name)
	switch {
	case err != nil:
		return Entry{}, false
	case info.IsDir():
		return Entry{Path: name, Dir: true}, true
	case info.Mode().IsRegular():
		return Entry{Path: name, Size: info.Size(), Modified: info.ModTime()}, true
	}
	return Entry{}, false
}
