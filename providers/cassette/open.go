package cassette

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pexctl/pex/engine/model"
)

// open opens a file named in a spec. The path is relative to the spec. After resolving links, it must be within the
// project or an allowed folder.
func open(s model.Settings, name string) (*os.File, error) {
	path := filepath.FromSlash(name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Dir, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	project := s.Root
	if project == "" {
		project = s.Dir
	}
	for _, dir := range slices.Concat([]string{project}, s.Allow) {
		base, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		if rel, err := filepath.Rel(base, path); err == nil && filepath.IsLocal(rel) {
			return openBelow(base, rel)
		}
	}
	return nil, errors.New("it is outside the project: move it there, or allow its folder with --allow-path")
}

// openBelow opens a regular file below a folder. It rejects other types, because opening a pipe would block.
func openBelow(base, rel string) (*os.File, error) {
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, reason(err)
	}
	defer root.Close()
	info, err := root.Stat(rel)
	if err != nil {
		return nil, reason(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := root.Open(rel)
	if err != nil {
		return nil, reason(err)
	}
	return f, nil
}

// reason returns why a file was not opened, without its absolute path.
func reason(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("it does not exist: %w", fs.ErrNotExist)
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
