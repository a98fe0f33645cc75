package dsl

import (
	"encoding/json"
	"path/filepath"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
)

// Recompile makes a program of the Source that a run kept; the digest is the
// same. dir is the folder of the spec it came from: tools start there. No file
// is read. The source holds the overrides of that time; further ones in Set
// make another program.
func Recompile(src json.RawMessage, dir string, o Options) (*engine.Program, diag.List) {
	l := newLoader(o)
	whole := &source{name: "the run's program", text: src, kind: resolved, path: filepath.Join(dir, defaultFile)}
	root := o.Root
	if root == "" {
		root = ProjectRoot(dir)
	}
	l.files = newFiles(root, dir, dir, o)
	tree, err := fromJSON(whole)
	if err != nil || tree.kind != dict {
		l.report.error(diag.Syntax, place{src: whole}, "it cannot be read again: %v", err)
		return nil, l.report.list
	}
	l.override(tree)
	s := l.finish(tree, whole)
	found := l.report.list.Sort()
	if s.program == nil && !found.Failed() {
		l.report.error(diag.WrongKind, place{src: whole}, "a %s cannot be run", s.Kind)
		return nil, l.report.list
	}
	return s.program, found
}
