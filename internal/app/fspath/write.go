package fspath

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// WriteFile writes a file atomically. If the path is a link, its target is replaced. An existing file keeps its
// permissions; a new one gets mode. Errors of write are returned unchanged.
func WriteFile(path string, mode os.FileMode, write func(io.Writer) error) (err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // fails after a successful rename
	if err = write(f); err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Exists reports whether a file or folder exists and is accessible.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil // files in an unreadable folder do not count
}
