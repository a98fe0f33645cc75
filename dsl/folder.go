package dsl

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Listed is a file below a folder.
type Listed struct {
	Name string // its path from the folder, with slashes
	Size int64  // in bytes
}

// Folder lists the regular files below a folder under Root, by its absolute
// path, as Load saw it: where Options.List has it, that. They are sorted by name.
// Links, and what tools never see (.git, .pex, .env), are left out. Of more than
// most files it gives most+1. A folder that there is not has none.
func (s *Spec) Folder(dir string, most int) ([]Listed, error) {
	rel, no := s.files.confine(dir, dir)
	if no != nil {
		return nil, errors.New(no.message)
	}
	out, err := s.files.below(rel, most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	out = slices.DeleteFunc(out, func(l Listed) bool { return slices.ContainsFunc(strings.Split(l.Name, "/"), hiddenName) })
	slices.SortFunc(out, func(a, b Listed) int { return strings.Compare(a.Name, b.Name) })
	return slices.Compact(out), err
}

// hiddenName says that a name is one that tools do not see.
func hiddenName(name string) bool {
	return name == ".git" || name == ".pex" || name == ".env" || strings.HasPrefix(name, ".env.")
}

// below walks a folder.
func (f *files) below(rel string, most int) ([]Listed, error) {
	if f.list != nil {
		if out, err := f.list(filepath.Join(f.root, rel), most); !errors.Is(err, ErrOnDisk) {
			return out, err
		}
	}
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var out []Listed
	from := filepath.ToSlash(rel)
	err = fs.WalkDir(root.FS(), from, func(at string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case at != from && hiddenName(path.Base(at)):
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
		out = append(out, Listed{name, info.Size()})
		return nil
	})
	return out, err
}
