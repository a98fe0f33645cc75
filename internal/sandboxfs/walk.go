package sandboxfs

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

const maxDepth = 100 // folders below one another

// Entry is something that Walk found.
type Entry struct {
	Path string // below the root, with slashes
	Dir  bool
	Size int64 // of a file, in bytes

	Modified time.Time // of a file
}

// Walk visits what lies below a folder and fits the glob, names in order, a
// folder before what it holds. Links to folders are not entered, what cannot
// be read is left out. Walk ends with the context's error, or with the first
// that visit returns.
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

// open reports whether a folder may be entered: it is not private.
func (t *Tree) open(name string) bool {
	_, err := t.follow(name)
	return err == nil
}

// entries reads a folder; one that went away or may not be read is empty.
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

// entry looks at one name; pipes, devices and links that lead out or nowhere
// or to what is closed, are no entries.
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
