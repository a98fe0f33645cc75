package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
)

// gitState is the commit that a folder stands at, and whether files that git
// follows were changed since; "" = it is in no repository, or there is no git.
func gitState(ctx context.Context, dir string) (commit string, dirty bool) {
	out, err := git(ctx, dir, "rev-parse", "HEAD")
	if err != nil {
		return "", false
	}
	changed, err := git(ctx, dir, "status", "--porcelain", "--untracked-files=no")
	return strings.TrimSpace(string(out)), err == nil && len(bytes.TrimSpace(changed)) > 0
}

// gitFile is a file as a commit has it; fs.ErrNotExist = the commit has none.
func gitFile(ctx context.Context, ref, file string) ([]byte, error) {
	dir := filepath.Dir(file)
	if _, err := gitCommit(ctx, dir, ref); err != nil {
		return nil, err
	}
	object := ref + ":./" + filepath.Base(file)
	if _, err := git(ctx, dir, "cat-file", "-e", object); err != nil {
		return nil, usage("git:%s has no %s: %w", ref, shownPath(file), fs.ErrNotExist)
	}
	return git(ctx, dir, "show", "--end-of-options", object)
}

// gitCommit is the id of the commit that a name stands for; whatever the name is,
// git never takes it for a flag.
func gitCommit(ctx context.Context, dir, ref string) (string, error) {
	id, err := git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", usage("git:%s: git is not installed here", ref)
	case err != nil:
		return "", usage("git:%s: %s has no such commit (in CI, fetch it first: a shallow clone holds only its own)", ref, dir)
	}
	return strings.TrimSpace(string(id)), nil
}

// git runs git in a folder; the error holds what it said.
func git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return gitTold(ctx, dir, "", args...)
}

// gitTold is git with something to read on its stdin.
func gitTold(ctx context.Context, dir, stdin string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir, "--no-optional-locks"}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil && said.Len() > 0 {
		err = errors.Join(err, errors.New(strings.TrimSpace(said.String())))
	}
	return out, err
}
