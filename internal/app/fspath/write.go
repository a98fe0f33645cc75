package fspath

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// WriteFile writes a file in one step: it is there whole, or as it was before.
// A link stays one; a file keeps its permissions, a new one gets mode. What
// write returns comes back as it is.
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
	defer os.Remove(f.Name()) //nolint:errcheck // gone already when all went well
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

// Exists reports whether a file or folder can be seen.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil // what is in a folder that cannot be read is not there
}
