package sandboxfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	maxPath   = 4096 // bytes of a path
	fewNames  = 12   // names listed in an error about a missing path
	manyNames = 1000 // names read to choose them
)

// Tree is an open root, used and closed by one call.
type Tree struct {
	*Folder
	root *os.Root
	at   string // the root relative to base, links resolved
	real string // the base, absolute, links resolved
}

// Close closes the root. Its error is ignored, since no data can be lost.
func (t *Tree) Close() { _ = t.root.Close() }

// Clean converts a path from a model to a slash-separated path below the root, "." for the root itself. It does not
// access the file system.
func (t *Tree) Clean(name string) (string, error) {
	switch {
	case strings.ContainsRune(name, 0):
		return "", errors.New("the path holds a NUL byte; pass a plain path such as notes/today.txt")
	case len(name) > maxPath:
		return "", fmt.Errorf("the path is %d bytes long; the maximum is %d", len(name), maxPath)
	}
	rel := filepath.ToSlash(name)
	if slices.Contains(strings.Split(rel, "/"), "..") {
		return "", fmt.Errorf("path %q holds \"..\"; pass a path below the folder of this tool, such as notes/today.txt", name)
	}
	rel, err := t.relative(rel)
	if err != nil {
		return "", err
	}
	if rel = path.Clean(rel); !filepath.IsLocal(filepath.FromSlash(rel)) {
		return "", fmt.Errorf("path %q is not below the folder of this tool", name)
	}
	if by, ok := t.excluded(rel); ok {
		return "", fmt.Errorf("path %q is closed to this tool (its author excludes %s)", name, by)
	}
	return rel, nil
}

// relative converts an absolute path below the root to a relative one, since models repeat paths from messages.
func (t *Tree) relative(name string) (string, error) {
	if !path.IsAbs(name) && !filepath.IsAbs(name) {
		return name, nil
	}
	roots := []string{t.dir}
	if real, err := filepath.EvalSymlinks(t.dir); err == nil {
		roots = append(roots, real)
	}
	for _, root := range roots {
		if rel, err := filepath.Rel(root, filepath.Clean(filepath.FromSlash(name))); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), nil
		}
	}
	return "", fmt.Errorf("path %q is outside the folder of this tool; pass a path below it, without a slash at the start", name)
}

// excluded returns the pattern that excludes a path.
func (f *Folder) excluded(rel string) (string, bool) {
	for part := range strings.SplitSeq(strings.ToLower(rel), "/") {
		for _, p := range f.exclude {
			plain, _ := path.Match(p, part)
			bare, _ := path.Match(p, normalizeName(part))
			if (plain || bare) && part != "." {
				return p, true
			}
		}
	}
	return "", false
}

// File opens a regular file for reading; the caller must close it. rel comes from Clean or Walk. A pipe, device or
// folder is an error, without blocking.
func (t *Tree) File(rel string) (*os.File, fs.FileInfo, error) {
	rel, err := t.follow(rel)
	if err != nil {
		return nil, nil, err
	}
	info, err := t.root.Stat(rel)
	if err != nil {
		return nil, nil, t.explain(rel, err)
	}
	if err := t.regular(rel, info); err != nil {
		return nil, nil, err
	}
	f, err := t.root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, t.explain(rel, err)
	}
	// The file may have been replaced between check and open.
	if info, err = f.Stat(); err == nil {
		err = t.regular(rel, info)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// Stat describes a file or folder, following links inside the root.
func (t *Tree) Stat(rel string) (fs.FileInfo, error) {
	rel, err := t.follow(rel)
	if err != nil {
		return nil, err
	}
	info, err := t.root.Stat(rel)
	if err != nil {
		return nil, t.explain(rel, err)
	}
	return info, nil
}

func (t *Tree) regular(rel string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return fmt.Errorf("%q is a folder, not a file; %s", rel, t.listing(rel))
	case !info.Mode().IsRegular():
		return fmt.Errorf("%q is not a regular file but a pipe, socket or device, which this tool does not touch", rel)
	}
	return nil
}

// explain converts a file system error to a message for a model.
func (t *Tree) explain(rel string, err error) error {
	switch why := reason(err); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		dir := path.Dir(rel)
		for dir != "." && directory(t.root, dir) != nil {
			dir = path.Dir(dir)
		}
		return fmt.Errorf("there is no %q; %s", rel, t.listing(dir))
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("no permission for %q", rel)
	case strings.Contains(why.Error(), "escapes"):
		return fmt.Errorf("%q leads out of the folder of this tool by a link, which is not followed", rel)
	default:
		return fmt.Errorf("%q cannot be used: %w", rel, why)
	}
}

// listing lists some names of a folder, to help with a wrong path.
func (t *Tree) listing(dir string) string {
	where := "folder " + dir
	if dir == "." {
		where = "the folder of this tool"
	}
	f, err := t.openDir(dir)
	if err != nil {
		return where + " cannot be read"
	}
	defer f.Close()
	entries, _ := f.ReadDir(manyNames)
	var names []string
	for _, e := range entries {
		if _, hidden := t.excluded(e.Name()); hidden || t.enterable(path.Join(dir, e.Name())) != nil {
			continue
		}
		name := DisplayPath(e.Name())
		if e.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	switch n := len(names) - fewNames; {
	case len(names) == 0:
		return where + " is empty"
	case n > 0:
		return fmt.Sprintf("%s holds %s and %d more", where, strings.Join(names[:fewNames], ", "), n)
	}
	return where + " holds " + strings.Join(names, ", ")
}

func (t *Tree) openDir(rel string) (*os.File, error) {
	if err := directory(t.root, rel); err != nil {
		return nil, err
	}
	return t.root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}
