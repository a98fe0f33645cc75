package dsl

import (
	"encoding/json"
	"path/filepath"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
)

// Recompile compiles the Source that a run stored to a program with the same
// digest. dir is the folder of the original spec, in which tools start. It reads
// no file. The source contains the overrides of that time; further ones in Set
// make another program.
func Recompile(src json.RawMessage, dir string, o Options) (*engine.Program, diag.List) {
	l := newLoader(o)
	whole := &syntax.Source{Name: "the run's program", Text: src, Kind: syntax.Resolved, Path: filepath.Join(dir, specfs.SpecFile)}
	root := o.Root
	if root == "" {
		root = specfs.Root(dir)
	}
	l.Files = specfs.NewReader(root, dir, dir, o.access())
	tree, err := syntax.ParseJSON(whole)
	if err != nil || tree.Kind != syntax.Map {
		l.Report.Error(diag.Syntax, syntax.Position{Source: whole}, "cannot read it again: %v", err)
		return nil, l.Report.List
	}
	l.override(tree)
	s := l.finish(tree, whole)
	found := l.Report.List.Sort()
	if s.program == nil && !found.Failed() {
		l.Report.Error(diag.WrongKind, syntax.Position{Source: whole}, "a file of kind: %s cannot be run", s.Kind)
		return nil, l.Report.List
	}
	return s.program, found
}
