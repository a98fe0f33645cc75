package lsp

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pexctl/pex/dsl/specfs"
)

// Bounds of a search: the files that are looked at, and the specs that are
// vetted because of it.
const (
	maxLooked = 20_000
	maxSpecs  = 50
)

// discover looks for specs that are not open and read a file that is, such as a
// prompt, so that what is wrong in it is told. It ends with the context.
func (s *server) discover(ctx context.Context, path string) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(s.options.Log, "pexctl lsp: look for specs: %v\n", p)
		}
	}()
	root := s.options.Spec.Root
	if root == "" {
		root = specfs.Root(filepath.Dir(path))
	}
	name := filepath.Base(path)
	specs := filesBelow(ctx, root, func(d fs.DirEntry, path string) bool { return mayRead(d, path, name) })
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.paths[path] == nil {
		return // it was closed
	}
	for _, spec := range specs {
		if spec = real(spec); s.roots[spec] == nil {
			s.roots[spec] = &vetted{path: spec, hidden: true}
			s.mark(spec)
		}
	}
}

// filesBelow lists YAML files below a folder that fit.
func filesBelow(ctx context.Context, root string, fits func(d fs.DirEntry, path string) bool) (specs []string) {
	looked := 0
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error { // what cannot be read is passed over
		looked++
		switch {
		case ctx.Err() != nil || looked > maxLooked || len(specs) >= maxSpecs:
			return fs.SkipAll
		case err != nil:
			return nil
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.Type().IsRegular() && (filepath.Ext(path) == ".yaml" || filepath.Ext(path) == ".yml") && fits(d, path):
			specs = append(specs, path)
		}
		return nil
	})
	return specs
}

// mayRead says whether a file is a spec that names another, or what may.
func mayRead(d fs.DirEntry, path, name string) bool {
	if info, err := d.Info(); err != nil || info.Size() > maxFile {
		return false
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "Agent") {
		return false
	}
	return strings.Contains(string(text), name) || strings.Contains(string(text), "include:") || strings.Contains(string(text), "extends:")
}
