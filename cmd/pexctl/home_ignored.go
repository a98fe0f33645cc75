package main

import (
	"os"
	"path/filepath"

	"github.com/pexctl/pex/internal/app/fspath"
)

// homeName is the folder at a project's root that keeps runs, memory and
// evaluations, where nobody names another.
const homeName = ".pex"

// ignored keeps a home that is about to be used out of git: it holds prompts and
// answers. Only one of the usual name, and one that is new, gets a .gitignore;
// that it cannot be written is for whoever then writes there to tell.
func ignored(dir string) {
	if filepath.Base(dir) != homeName || fspath.Exists(dir) || os.MkdirAll(dir, 0o700) != nil {
		return
	}
	_ = os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*\n"), 0o600)
}
