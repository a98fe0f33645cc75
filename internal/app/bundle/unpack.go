package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// unpack returns the folder of a bundle's files. It replaces a folder whose content was changed.
func unpack(m *manifest, id, cache string) (string, error) {
	cache, err := filepath.Abs(cache)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", err
	}
	final := filepath.Join(cache, strings.TrimPrefix(id, "sha256:"))
	if m.isIntact(final) {
		return final, nil
	}
	fresh, err := os.MkdirTemp(cache, ".unpacking-*")
	if err != nil {
		return "", err
	}
	defer remove(fresh)
	if err := m.write(fresh); err != nil {
		return "", err
	}
	err = os.Rename(fresh, final)
	if err == nil || m.isIntact(final) { // another process was first, and may use the folder already
		return final, nil
	}
	if err := replace(fresh, final); err != nil && !m.isIntact(final) {
		return "", err
	}
	return final, nil
}

// replace moves a folder to a place at which there is a damaged one.
func replace(fresh, final string) error {
	old, err := os.MkdirTemp(filepath.Dir(final), ".replaced-*")
	if err != nil {
		return err
	}
	defer remove(old)
	if err := os.Rename(final, filepath.Join(old, "content")); err != nil {
		return err
	}
	return os.Rename(fresh, final)
}

// remove deletes a folder that nothing uses. One that is left is only space.
func remove(folder string) { _ = os.RemoveAll(folder) }

// write writes the files to a new folder. It creates regular files and folders, nothing else.
func (m *manifest) write(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.FromSlash(m.Dir), 0o700); err != nil {
		return err
	}
	for _, f := range m.Files {
		name := filepath.FromSlash(f.Path)
		if err := root.MkdirAll(filepath.FromSlash(path.Dir(f.Path)), 0o700); err != nil {
			return err
		}
		out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		_, err = out.Write(f.content)
		if err := errors.Join(err, out.Close()); err != nil {
			return err
		}
	}
	return nil
}

// errChanged reports a folder with other content than its bundle.
var errChanged = errors.New("changed")

// isIntact reports whether a folder has the files of the bundle, and no others.
func (m *manifest) isIntact(folder string) bool {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return false
	}
	defer root.Close()
	want := make(map[string][]byte, len(m.Files))
	for _, f := range m.Files {
		want[f.Path] = f.content
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch content, known := want[name]; {
		case err != nil:
			return err
		case d.IsDir():
			return nil
		case !known || !d.Type().IsRegular():
			return errChanged
		default:
			delete(want, name)
			return equal(root, name, content)
		}
	})
	if err != nil || len(want) > 0 {
		return false
	}
	info, err := root.Stat(filepath.FromSlash(m.Dir))
	return err == nil && info.IsDir()
}

// equal returns an error unless a file has a content.
func equal(root *os.Root, name string, content []byte) error {
	info, err := root.Lstat(filepath.FromSlash(name))
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(content)) {
		return errors.Join(err, errChanged)
	}
	b, err := root.ReadFile(filepath.FromSlash(name))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if !bytes.Equal(b, content) {
		return errChanged
	}
	return nil
}
