package gitfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/engine/lockfile"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/git"
)

// GitTree gives access to the files of a commit without checking it out.
type GitTree struct {
	ctx     context.Context
	Repo    *git.Repo
	Commit  string
	known   map[string]Object
	modules map[string]*GitTree // opened submodules by folder
}

// Object is what a commit contains at a path.
type Object struct {
	Kind string // blob or tree; "" = nothing
	text []byte
}

// OpenGitTree opens a commit of the repository of a file. The file need not exist.
func OpenGitTree(ctx context.Context, ref, file string) (*GitTree, error) {
	repo, err := repositoryOf(ctx, filepath.Dir(fspath.Absolute(file)))
	switch {
	case errors.Is(err, git.ErrNone):
		return nil, failure.Usagef("git:%s: %s is in no git repository", ref, fspath.Shown(file))
	case err != nil:
		return nil, failure.Usagef("git:%s: %w", ref, err)
	}
	commit, err := gitCommit(ctx, repo, ref)
	if err != nil {
		return nil, err
	}
	return newGitTree(ctx, repo, commit), nil
}

func newGitTree(ctx context.Context, repo *git.Repo, commit string) *GitTree {
	return &GitTree{ctx: ctx, Repo: repo, Commit: commit, known: map[string]Object{}}
}

// place returns an absolute path relative to the top of the repository, or "" for the top itself. inside is false for
// paths outside of it. Links below the top are not resolved on disk, since the commit determines their targets.
func (g *GitTree) place(path string) (rel string, inside bool) {
	top := g.Repo.Top()
	if !fspath.Within(top, path) {
		path = g.fromTop(path)
	}
	rel, err := filepath.Rel(top, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	if rel == "." {
		rel = ""
	}
	return filepath.ToSlash(rel), true
}

// fromTop rewrites a path that reaches the repository through a link to one that starts with its top.
func (g *GitTree) fromTop(path string) string {
	found := ""
	for at := path; filepath.Dir(at) != at; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil && real == g.Repo.Top() {
			found = filepath.Join(real, strings.TrimPrefix(path, at))
		}
	}
	if found != "" {
		return found
	}
	dir, rest := fspath.OnDisk(filepath.Dir(path))
	return filepath.Join(dir, rest, filepath.Base(path))
}

// LinkTarget returns the target if the folder of a path is a link on disk but not in the commit, else "". The spec on
// disk is read at the target, so the two would not be the same spec.
func (g *GitTree) LinkTarget(path string) string {
	rel, inside := g.place(path)
	dir, rest := fspath.OnDisk(filepath.Dir(path))
	real, realInside := g.place(filepath.Join(dir, rest, filepath.Base(path)))
	if !inside || !realInside || rel == real {
		return ""
	}
	if _, err := g.Repo.Output(g.ctx, "", "rev-parse", "--verify", "--quiet", "--end-of-options", g.Commit+":"+rel); err != nil {
		return ""
	}
	return real
}

// Object returns what the commit contains at an absolute path, following links within the repository. inside is false
// for paths outside of it.
func (g *GitTree) Object(path string) (o Object, inside bool, err error) {
	rel, inside := g.place(path)
	if !inside {
		return Object{}, false, nil
	}
	if known, ok := g.known[rel]; ok {
		return known, true, nil
	}
	if !strings.ContainsAny(rel, "\n\x00") { // git would read two names
		if o, err = g.ask(rel); err == nil && o.Kind == "" {
			o, err = g.below(rel, path)
		}
		if err != nil {
			return o, true, err
		}
	}
	g.known[rel] = o
	return o, true, nil
}

// ask reads an object: a line with id, kind and size, then its content.
func (g *GitTree) ask(rel string) (o Object, err error) {
	out, err := g.Repo.Output(g.ctx, g.Commit+":"+rel+"\n", "cat-file", "--batch", "--follow-symlinks")
	if err != nil {
		return o, fmt.Errorf("git cat-file: %w", err)
	}
	head, body, _ := bytes.Cut(out, []byte("\n"))
	if f := bytes.Fields(head); len(f) == 3 && (string(f[1]) == "blob" || string(f[1]) == "tree") {
		return Object{string(f[1]), bytes.TrimSuffix(body, []byte("\n"))}, nil
	}
	return o, nil
}

// below reads an object of a submodule at the commit referenced by this one. It returns the zero Object if the path
// is in no submodule.
func (g *GitTree) below(rel, path string) (Object, error) {
	sub, err := g.submodule(rel)
	if sub == nil || err != nil {
		return Object{}, err
	}
	o, _, err := sub.Object(path)
	return o, err
}

// submodule opens the submodule that contains a path, at the commit referenced by this one, or returns nil.
func (g *GitTree) submodule(rel string) (*GitTree, error) {
	args := []string{"--literal-pathspecs", "ls-tree", "-z", g.Commit, "--"}
	for i, r := range rel + "/" {
		if r == '/' && i > 0 {
			args = append(args, rel[:i])
		}
	}
	if args[len(args)-1] == "--" {
		return nil, nil
	}
	out, err := g.Repo.Output(g.ctx, "", args...)
	if err != nil {
		return nil, fmt.Errorf("git ls-tree: %w", err)
	}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		head, dir, _ := strings.Cut(entry, "\t")
		id, isModule := strings.CutPrefix(head, "160000 commit ")
		if !isModule {
			continue
		}
		if known := g.modules[dir]; known != nil {
			return known, nil
		}
		repo, err := git.At(filepath.Join(g.Repo.Top(), filepath.FromSlash(dir)))
		if err == nil {
			_, err = repo.Commit(g.ctx, id)
		}
		if err != nil {
			return nil, failure.Usagef("the submodule %s has no commit %.12s here: git submodule update --init, or git fetch in it", dir, id)
		}
		if g.modules == nil {
			g.modules = map[string]*GitTree{}
		}
		g.modules[dir] = newGitTree(g.ctx, repo, id)
		return g.modules[dir], nil
	}
	return nil, nil
}

// Read implements dsl.Options.Read.
func (g *GitTree) Read(path string) ([]byte, error) {
	o, inside, err := g.Object(path)
	switch {
	case err != nil:
		return nil, err
	case !inside:
		return nil, specfs.ErrOnDisk
	case o.Kind != "blob":
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	return o.text, nil
}

// Pins reads the lock file in the commit.
func (g *GitTree) Pins(root string) (*lockfile.Lock, error) {
	b, err := g.Read(filepath.Join(root, lockfile.FileName))
	switch {
	case errors.Is(err, specfs.ErrOnDisk):
		return lockfile.Read(root)
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return lockfile.Parse(b)
}
