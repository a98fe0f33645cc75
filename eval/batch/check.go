package batch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/regular"
)

// Files lists the files of the evaluation in dir, relative and slash-separated, the
// manifest first.
func Files(dir string) ([]string, error) {
	files := []string{manifestFile}
	programs, err := os.ReadDir(filepath.Join(dir, programsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range programs {
		if filepath.Ext(e.Name()) == ".json" {
			files = append(files, programsDir+"/"+e.Name())
		}
	}
	for _, name := range []string{rowsFile, trialsFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			files = append(files, name)
		}
	}
	return files, nil
}

// Exists reports whether dir has an evaluation, or parts of one.
func Exists(dir string) bool {
	for _, name := range []string{manifestFile, rowsFile, trialsFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// Check verifies all files of the evaluation in dir and returns one error per damaged or
// unreadable file. It changes nothing; the evaluation may be in progress.
func Check(dir string) []error {
	files, err := Files(dir)
	if err != nil {
		return []error{err}
	}
	var all []error
	for _, name := range files {
		if err := check(dir, name); err != nil {
			all = append(all, err)
		}
	}
	return all
}

func check(dir, name string) error {
	path := filepath.Join(dir, filepath.FromSlash(name))
	switch name {
	case manifestFile:
		_, err := ReadManifest(dir)
		return err
	case rowsFile:
		for _, err := range journal.ReadLog(path) {
			if err != nil {
				return err
			}
		}
		return nil
	case trialsFile:
		return journal.CheckPool(path)
	}
	b, err := regular.ReadFile(path)
	if err == nil && !json.Valid(b) {
		err = fmt.Errorf("%s: %w: invalid JSON", path, journal.ErrCorrupt)
	}
	return err
}
