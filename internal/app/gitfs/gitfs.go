package gitfs

import (
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/git"
)

// GitState returns the checked-out commit of a folder's repository, and whether tracked files were changed. commit is
// "" without a repository or git.
func GitState(ctx context.Context, dir string) (commit string, dirty bool) {
	repo, err := repositoryOf(ctx, dir)
	if err != nil {
		return "", false
	}
	if commit, err = repo.Commit(ctx, "HEAD"); err != nil {
		return "", false
	}
	dirty, err = repo.Dirty(ctx)
	return commit, err == nil && dirty
}

// GitFile returns a file in a commit. The error wraps fs.ErrNotExist if the commit does not have it.
func GitFile(ctx context.Context, ref, file string) ([]byte, error) {
	tree, err := OpenGitTree(ctx, ref, file)
	if err != nil {
		return nil, err
	}
	o, inside, err := tree.Object(fspath.Absolute(file))
	switch {
	case err != nil:
		return nil, failure.Infra(err)
	case !inside || o.Kind != "blob":
		return nil, failure.Usagef("git:%s has no %s: %w", ref, fspath.Shown(file), fs.ErrNotExist)
	}
	return o.text, nil
}

// repositoryOf returns the repository in which a path is compared. A submodule counts as part of its parent
// repository unless the command runs inside the submodule, whose references belong to another project.
func repositoryOf(ctx context.Context, path string) (*git.Repo, error) {
	repo, err := git.Find(path)
	if err != nil {
		return nil, err
	}
	here, _ := fspath.OnDisk(".")
	for {
		if fspath.Within(repo.Top(), here) {
			return repo, nil
		}
		outer, err := git.Find(filepath.Dir(repo.Top()))
		if errors.Is(err, git.ErrNone) {
			return repo, nil
		}
		if err != nil {
			return nil, err
		}
		if !outer.HasSubmodule(ctx, repo.Top()) {
			return repo, nil
		}
		repo = outer
	}
}

// gitCommit returns the commit id of a name.
func gitCommit(ctx context.Context, repo *git.Repo, ref string) (string, error) {
	id, err := repo.Commit(ctx, ref)
	ambiguous, isAmbiguous := errors.AsType[*git.AmbiguousError](err)
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", failure.Usagef("git:%s: git is not installed", ref)
	case isAmbiguous:
		return "", failure.Usagef("git:%s: several references have this name; write git:%s", ref, strings.Join(ambiguous.Names, " or git:"))
	case err != nil:
		return "", failure.Usagef("git:%s: %s has no such commit (in CI, fetch it first: a shallow clone holds only its own)", ref, repo.Top())
	}
	return id, nil
}
