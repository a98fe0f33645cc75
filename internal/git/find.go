package git

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNone is returned by Find for a path that is in no repository.
var ErrNone = errors.New("not in a git repository")

// Repo is a repository with a work tree. It holds no open file and is safe for
// concurrent use.
type Repo struct {
	top string // the work tree, absolute, links resolved
	dir string // its git directory, absolute, links resolved
}

// Top returns the folder of the work tree, absolute and without links.
func (r *Repo) Top() string { return r.top }

// Find returns the repository of a path: the nearest folder at or above it that
// has a .git. The path itself need not exist.
func Find(path string) (*Repo, error) {
	at, err := existing(path)
	if err != nil {
		return nil, err
	}
	for {
		if hasGit(at) {
			return At(at)
		}
		parent := filepath.Dir(at)
		if parent == at {
			return nil, fmt.Errorf("%s: %w", path, ErrNone)
		}
		at = parent
	}
}

// At returns the repository whose work tree is exactly this folder.
func At(top string) (*Repo, error) {
	top, err := filepath.EvalSymlinks(top)
	if err != nil {
		return nil, err
	}
	if !hasGit(top) {
		return nil, fmt.Errorf("%s: %w", top, ErrNone)
	}
	dir, err := gitDir(top)
	if err != nil {
		return nil, err
	}
	if err := outsideWorkTrees(top, dir); err != nil {
		return nil, err
	}
	return &Repo{top, dir}, nil
}

// existing returns the longest part of a path that exists, links resolved.
func existing(path string) (string, error) {
	at, err := filepath.Abs(path)
	for err == nil {
		real, missing := filepath.EvalSymlinks(at)
		if missing == nil {
			return real, nil
		}
		if filepath.Dir(at) == at {
			return at, nil
		}
		at = filepath.Dir(at)
	}
	return "", err
}

func hasGit(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

// gitDir returns where the .git of a folder leads: a directory itself, or what
// the file of a linked worktree or a submodule names.
func gitDir(top string) (string, error) {
	const most = 8 << 10 // bytes of a .git file
	at := filepath.Join(top, ".git")
	info, err := os.Stat(at)
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return filepath.EvalSymlinks(at)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s: %w", at, fs.ErrInvalid)
	}
	f, err := os.Open(at)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return "", err
	}
	dir, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	if !ok || dir == "" || strings.ContainsAny(dir, "\n\x00") {
		return "", fmt.Errorf("%s: not a gitdir file", at)
	}
	if dir = filepath.FromSlash(dir); !filepath.IsAbs(dir) {
		dir = filepath.Join(top, dir)
	}
	return filepath.EvalSymlinks(dir)
}

// outsideWorkTrees returns an error for a git directory that consists of files of
// a work tree: those of a commit, whose author would choose config and refs.
func outsideWorkTrees(top, dir string) error {
	if dir == filepath.Join(top, ".git") {
		return nil
	}
	if within(top, dir) {
		return fmt.Errorf("%s leads to %s, which is inside the work tree: refused", filepath.Join(top, ".git"), dir)
	}
	for at := filepath.Dir(dir); filepath.Dir(at) != at; at = filepath.Dir(at) {
		if !hasGit(at) {
			continue
		}
		if own, err := gitDir(at); err != nil || !within(own, dir) {
			return fmt.Errorf("%s leads to %s, which is inside the work tree %s: refused", filepath.Join(top, ".git"), dir, at)
		}
	}
	return nil
}

// within reports whether a path is a folder or below it; both are absolute.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
