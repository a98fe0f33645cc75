package fspath

import (
	"os"
	"path/filepath"

	"github.com/pexctl/pex/engine/text"
)

// Shown returns a path for display, relative to the working folder if it is below it.
func Shown(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	for _, here := range []string{here, Real(here)} { // the working folder may have been entered through a link
		if rel, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return path
}

// Within reports whether a path is a folder or below it; both are absolute.
func Within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// Absolute returns an absolute path with its links as they are.
func Absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// OnDisk splits a path into the part that exists, with links resolved, and the rest, which may exist only in another
// commit.
func OnDisk(path string) (dir, rest string) {
	dir = Real(path)
	for {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return real, rest
		}
		if filepath.Dir(dir) == dir {
			return dir, rest
		}
		dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest)
	}
}

// Quote quotes a path for a shell.
func Quote(path string) string { return text.ShellWord(path) }

// Relative returns a path relative to the working folder if it is below it, else unchanged.
func Relative(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, abs); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// Same reports whether two paths name the same file after links are resolved.
func Same(a, b string) bool {
	a, err := filepath.Abs(a)
	if err != nil {
		return false
	}
	b, err = filepath.Abs(b)
	return err == nil && a == b
}

// Real returns an absolute path, with links resolved as far as it exists.
func Real(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
