package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/pexctl/pex/engine/text"
)

// ExistsError lists files that already exist.
type ExistsError struct{ Paths []string }

// Error names the files and how to replace them.
func (e *ExistsError) Error() string {
	shown := text.Some(e.Paths, 3)
	if len(e.Paths) == 1 {
		return shown + " already exists; --force replaces it"
	}
	return shown + " already exist; --force replaces them"
}

// CheckFree returns the error that Write would return because of existing files; nil if dir does not exist.
func CheckFree(dir string, files []File, force bool) error {
	root, err := os.OpenRoot(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	defer root.Close()
	return checkExisting(root, files, force)
}

// Write writes files below dir, and creates dir if necessary. If a file exists, nothing is written and the error is an
// *ExistsError; with force, regular files are replaced. If writing fails, the files and folders created so far are removed.
func Write(dir string, files []File, force bool) (err error) {
	made, err := makeFolders(dir)
	defer func() {
		if err != nil {
			for _, d := range made {
				_ = os.Remove(d) // keeps a folder that is in use
			}
		}
	}()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := checkExisting(root, files, force); err != nil {
		return err
	}
	p := writer{root: root}
	for _, f := range files {
		if err := p.write(f); err != nil {
			p.undo()
			return err
		}
	}
	return nil
}

// makeFolders creates a folder and its parents. It returns those that were missing, the deepest first.
func makeFolders(dir string) (made []string, err error) {
	var missing []string
	for d := dir; ; {
		if _, err := os.Stat(d); err == nil || !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append(missing, d)
		above := parent(d)
		if above == d {
			break
		}
		d = above
	}
	return missing, os.MkdirAll(dir, 0o755)
}

// checkExisting checks for existing files and for paths that cannot hold files.
func checkExisting(root *os.Root, files []File, force bool) error {
	var there []string
	for _, f := range files {
		for above := path.Dir(f.Path); above != "."; above = path.Dir(above) {
			if err := folderAt(root, above); err != nil {
				return fmt.Errorf("%w: cannot write %s", err, f.Path)
			}
		}
		info, err := root.Lstat(f.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s exists and is not a regular file; it is never replaced", f.Path)
		default:
			there = append(there, f.Path)
		}
	}
	if len(there) > 0 && !force {
		return &ExistsError{there}
	}
	return nil
}

// folderAt returns an error if name exists and cannot hold files.
func folderAt(root *os.Root, name string) error {
	info, err := root.Stat(name)
	switch {
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is not a folder", name)
	case err == nil:
		return nil
	}
	if link, err := root.Lstat(name); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a symbolic link that is broken or leaves the project", name)
	}
	return nil
}

// writer writes files below root and can remove what it created.
type writer struct {
	root    *os.Root
	created []string // files and folders, in order
}

// write writes a file by renaming a temporary one. Files that start with #! are made executable.
func (p *writer) write(f File) error {
	if err := p.folder(path.Dir(f.Path)); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if bytes.HasPrefix(f.Content, []byte("#!")) {
		mode = 0o755
	}
	_, err := p.root.Lstat(f.Path)
	fresh := errors.Is(err, fs.ErrNotExist)
	next := f.Path + ".new~"
	if err := p.root.WriteFile(next, f.Content, mode); err != nil {
		_ = p.root.Remove(next) // remove a partial file
		return p.writeError(f, err)
	}
	if err := p.root.Rename(next, f.Path); err != nil {
		_ = p.root.Remove(next)
		return p.writeError(f, err)
	}
	if fresh {
		p.created = append(p.created, f.Path)
	}
	return nil
}

// writeError replaces the path of the temporary file in err by that of f.
func (p *writer) writeError(f File, err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	return &fs.PathError{Op: "write", Path: filepath.Join(p.root.Name(), filepath.FromSlash(f.Path)), Err: err}
}

func (p *writer) folder(name string) error {
	if name == "." {
		return nil
	}
	if _, err := p.root.Stat(name); err == nil {
		return nil
	}
	if err := p.folder(path.Dir(name)); err != nil {
		return err
	}
	if err := p.root.Mkdir(name, 0o755); err != nil {
		return err
	}
	p.created = append(p.created, name)
	return nil
}

// undo removes what was created, the last first.
func (p *writer) undo() {
	for _, name := range slices.Backward(p.created) {
		_ = p.root.Remove(name) // keeps a folder that is in use
	}
}

func parent(dir string) string { return filepath.Dir(filepath.Clean(dir)) }
