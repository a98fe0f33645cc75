package specfs

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// FileEntry is a file below a folder.
type FileEntry struct {
	Name string // path relative to the folder, with slashes
	Size int64  // in bytes
}

// IsHidden reports whether tools do not see a name.
func IsHidden(name string) bool {
	return name == ".git" || name == ".pex" || name == ".env" || strings.HasPrefix(name, ".env.")
}

// List walks a folder.
func (f *Reader) List(rel string, most int) ([]FileEntry, error) {
	if f.access.List != nil {
		if out, err := f.access.List(filepath.Join(f.Root, rel), most); !errors.Is(err, ErrOnDisk) {
			return out, err
		}
	}
	root, err := os.OpenRoot(f.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var out []FileEntry
	from := filepath.ToSlash(rel)
	err = fs.WalkDir(root.FS(), from, func(at string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case at != from && IsHidden(path.Base(at)):
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !e.Type().IsRegular():
			return nil
		case len(out) > most:
			return fs.SkipAll
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name := at
		if from != "." {
			name = strings.TrimPrefix(at, from+"/")
		}
		out = append(out, FileEntry{name, info.Size()})
		return nil
	})
	return out, err
}
