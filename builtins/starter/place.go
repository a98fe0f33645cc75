package starter

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

// ClashError says which files are there already.
type ClashError struct{ Paths []string }

// Error names the files and the way out.
func (e *ClashError) Error() string {
	shown := text.Some(e.Paths, 3)
	if len(e.Paths) == 1 {
		return shown + " is there already; --force replaces it, and nothing else"
	}
	return shown + " are there already; --force replaces them, and nothing else"
}

// Free says what stands in the way of files below a folder, as Place would; a
// folder that is missing has room for all.
func Free(dir string, files []File, force bool) error {
	root, err := os.OpenRoot(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	defer root.Close()
	return clashes(root, files, force)
}

// Place writes files below a folder, which is made where it is missing. A file
// that is there already is left alone, and none is written: the error is a
// *ClashError. With force it is replaced; what is no file never is. Where
// writing fails, what this call made is taken away again, folders too.
func Place(dir string, files []File, force bool) (err error) {
	made, err := makeFolders(dir)
	defer func() {
		if err != nil {
			for _, d := range made {
				_ = os.Remove(d) // one that is in use by now stays
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
	if err := clashes(root, files, force); err != nil {
		return err
	}
	p := placing{root: root}
	for _, f := range files {
		if err := p.write(f); err != nil {
			p.undo()
			return err
		}
	}
	return nil
}

// makeFolders makes a folder and those above it, and gives those that were
// missing, the lowest first.
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

// clashes looks for what stands in the way of files.
func clashes(root *os.Root, files []File, force bool) error {
	var there []string
	for _, f := range files {
		for above := path.Dir(f.Path); above != "."; above = path.Dir(above) {
			if err := folderAt(root, above); err != nil {
				return fmt.Errorf("%w, and %s belongs into it", err, f.Path)
			}
		}
		info, err := root.Lstat(f.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is there already, and is no file: it is never replaced", f.Path)
		default:
			there = append(there, f.Path)
		}
	}
	if len(there) > 0 && !force {
		return &ClashError{there}
	}
	return nil
}

// folderAt says why a path, where there is anything, cannot hold files.
func folderAt(root *os.Root, name string) error {
	info, err := root.Stat(name)
	switch {
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s is no folder", name)
	case err == nil:
		return nil
	}
	if link, err := root.Lstat(name); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a link that leads nowhere or out of the project", name)
	}
	return nil
}

// placing is the way of files to a folder.
type placing struct {
	root *os.Root
	made []string // files and folders, in the order they were made
}

// write puts a file in its place in one step; a script can be run.
func (p *placing) write(f File) error {
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
		_ = p.root.Remove(next) // what there is of it
		return p.unwritten(f, err)
	}
	if err := p.root.Rename(next, f.Path); err != nil {
		_ = p.root.Remove(next)
		return p.unwritten(f, err)
	}
	if fresh {
		p.made = append(p.made, f.Path)
	}
	return nil
}

// unwritten says of an error which file it kept from its place: the name that
// it is written under first nobody knows.
func (p *placing) unwritten(f File, err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	return &fs.PathError{Op: "write", Path: filepath.Join(p.root.Name(), filepath.FromSlash(f.Path)), Err: err}
}

func (p *placing) folder(name string) error {
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
	p.made = append(p.made, name)
	return nil
}

// undo takes away what was made, the last first.
func (p *placing) undo() {
	for _, name := range slices.Backward(p.made) {
		_ = p.root.Remove(name) // a folder that is in use by now stays
	}
}

func parent(dir string) string { return filepath.Dir(filepath.Clean(dir)) }
