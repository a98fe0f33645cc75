package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// file is a database as it was found: SQLite opens by path, so what was looked
// at is compared with what stands there once it is open.
type file struct {
	path string // absolute, no link in it
	info fs.FileInfo
}

// locate finds the database in its folder. It is never opened here: closing a
// file drops the locks that SQLite holds on it in this process.
//
// SQLite opens the path with O_NOFOLLOW, its journals too. What is left is a
// race: somebody with write access to the folders above the file can put
// another one in its place between here and there, and back before moved looks.
func (t *sqlTool) locate() (file, error) {
	tree, err := t.folder.Open()
	if err != nil {
		return file{}, err
	}
	defer tree.Close()
	info, err := tree.Stat(t.name)
	if err != nil {
		return file{}, fmt.Errorf("the database cannot be opened: %w", err)
	}
	if !info.Mode().IsRegular() {
		return file{}, fmt.Errorf("the database cannot be opened: %q is not a regular file", t.name)
	}
	if !t.config.ReadOnly {
		if err := tree.Changeable(t.name, nil); err != nil {
			return file{}, err
		}
	}
	path, err := filepath.EvalSymlinks(filepath.Join(t.folder.Dir(), t.name))
	if err != nil {
		return file{}, fmt.Errorf("the database cannot be opened: %w", errors.Unwrap(err))
	}
	f := file{path, info}
	return f, f.moved()
}

// moved is an error when another file stands at the path now.
func (f file) moved() error {
	if now, err := os.Lstat(f.path); err != nil || !os.SameFile(now, f.info) {
		return errors.New("the database was replaced while it was opened; call again")
	}
	return nil
}
