package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/engine/pin"
)

// gitTree is the files of a repository as a commit has them. Nothing is checked
// out.
type gitTree struct {
	ctx    context.Context
	top    string // the repository's folder, absolute, links resolved
	commit string
	known  map[string]gitObject
}

// gitObject is what stands at a path of a commit.
type gitObject struct {
	kind string // blob or tree; "" = nothing
	text []byte
}

// openGitTree is the commit of the repository that a file is in, or would be in.
func openGitTree(ctx context.Context, ref, file string) (*gitTree, error) {
	dir, _ := onDisk(filepath.Dir(file))
	commit, err := gitCommit(ctx, dir, ref)
	if err != nil {
		return nil, err
	}
	top, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, usage("git:%s: %w", ref, err)
	}
	real, err := filepath.EvalSymlinks(strings.TrimRight(string(top), "\r\n"))
	if err != nil {
		return nil, infra(err)
	}
	return &gitTree{ctx, real, commit, map[string]gitObject{}}, nil
}

// onDisk is the part of a path that is on disk, with links resolved, and what
// follows: a folder of another commit may be gone.
func onDisk(path string) (dir, rest string) {
	dir = absolute(path)
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

// place is an absolute path as the commit has it, from the top on, "" = the top
// itself; false = it is outside of the repository.
func (g *gitTree) place(path string) (rel string, inside bool) {
	dir, rest := onDisk(filepath.Dir(path))
	rel, err := filepath.Rel(g.top, filepath.Join(dir, rest, filepath.Base(path)))
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	if rel == "." {
		rel = ""
	}
	return filepath.ToSlash(rel), true
}

// object is what the commit has at an absolute path; links within the repository
// are followed. false = the path is outside of it.
func (g *gitTree) object(path string) (o gitObject, inside bool, err error) {
	rel, inside := g.place(path)
	if !inside {
		return gitObject{}, false, nil
	}
	if known, ok := g.known[rel]; ok {
		return known, true, nil
	}
	if !strings.ContainsAny(rel, "\n\x00") { // git would read two names
		if o, err = g.ask(rel); err == nil && o.kind == "" {
			o, err = g.below(rel, path)
		}
		if err != nil {
			return o, true, err
		}
	}
	g.known[rel] = o
	return o, true, nil
}

// ask reads an object: its id, its kind, its size, and on the next line itself.
func (g *gitTree) ask(rel string) (o gitObject, err error) {
	out, err := gitTold(g.ctx, g.top, g.commit+":"+rel+"\n", "cat-file", "--batch", "--follow-symlinks")
	if err != nil {
		return o, fmt.Errorf("git cat-file: %w", err)
	}
	head, body, _ := bytes.Cut(out, []byte("\n"))
	if f := bytes.Fields(head); len(f) == 3 && (string(f[1]) == "blob" || string(f[1]) == "tree") {
		return gitObject{string(f[1]), bytes.TrimSuffix(body, []byte("\n"))}, nil
	}
	return o, nil
}

// below reads an object of a submodule, as the commit that this one names has it;
// nothing = no submodule is on the way to it.
func (g *gitTree) below(rel, path string) (o gitObject, err error) {
	args := []string{"--literal-pathspecs", "ls-tree", "-z", g.commit, "--"}
	for i, r := range rel {
		if r == '/' {
			args = append(args, rel[:i])
		}
	}
	if args[len(args)-1] == "--" {
		return o, nil
	}
	out, err := git(g.ctx, g.top, args...)
	if err != nil {
		return o, fmt.Errorf("git ls-tree: %w", err)
	}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		head, dir, _ := strings.Cut(entry, "\t")
		id, isModule := strings.CutPrefix(head, "160000 commit ")
		if !isModule {
			continue
		}
		top := filepath.Join(g.top, filepath.FromSlash(dir))
		if _, err := gitCommit(g.ctx, top, id); err != nil {
			return o, usage("the submodule %s has no commit %.12s here: git submodule update --init, or git fetch in it", dir, id)
		}
		o, _, err = (&gitTree{g.ctx, top, id, map[string]gitObject{}}).object(path)
		return o, err
	}
	return o, nil
}

// read implements dsl.Options.Read.
func (g *gitTree) read(path string) ([]byte, error) {
	o, inside, err := g.object(path)
	switch {
	case err != nil:
		return nil, err
	case !inside:
		return nil, dsl.ErrOnDisk
	case o.kind != "blob":
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	return o.text, nil
}

// pins reads the lock as the commit has it.
func (g *gitTree) pins(root string) (*pin.Lock, error) {
	b, err := g.read(filepath.Join(root, pin.FileName))
	switch {
	case errors.Is(err, dsl.ErrOnDisk):
		return pin.Read(root)
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return pin.Parse(b)
}
