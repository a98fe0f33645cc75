package dsl

import (
	"errors"
	"path/filepath"
)

// kindOf is Kind for a file that may not be as it is on disk.
func (o Options) kindOf(path string) string {
	if o.Read != nil {
		abs := absolute(path)
		if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
			abs = filepath.Join(dir, filepath.Base(abs))
		}
		if text, err := o.Read(abs); !errors.Is(err, ErrOnDisk) {
			kind := headerOf(text).Kind
			if kind == "" && filepath.Base(path) == caseFile {
				kind = kindTests
			}
			return kind
		}
	}
	kind, _ := Kind(path) // what cannot be read is reported by who loads it
	return kind
}
