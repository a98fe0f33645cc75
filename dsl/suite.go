package dsl

import (
	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/suitespec"
	"github.com/pexctl/pex/dsl/syntax"
)

// LoadSuite reads a file of kind: Suite (a folder means its suite.yaml) and
// reports its mistakes, and the errors of its specs. The overrides of the options
// apply to the suite, not to its specs, which have set under variants. The Suite
// is nil only if there is nothing to show.
func LoadSuite(path string, o Options) (*suitespec.Suite, diag.List) {
	l := newLoader(o)
	s, _, _ := l.loadSuite(path)
	return s, l.Report.List.Sort()
}

func (l *loader) loadSuite(path string) (*suitespec.Suite, *syntax.Node, []config.Origin) {
	path = specfs.InFolder(path, specfs.SuiteFile)
	src := l.openFile(path, path, specfs.TestRoot)
	if src == nil {
		return nil, nil, nil
	}
	tree := l.mapping(src, "a suite")
	if l.foreignFormat(tree) {
		return nil, nil, nil
	}
	if tree == nil {
		return nil, nil, nil
	}
	suitespec.Expand(tree)
	l.override(tree)
	suitespec.Expand(tree)
	if syntax.TextOf(tree, "kind") != specfs.KindSuite {
		language.WrongKind(l.Report, tree, specfs.KindSuite)
		return nil, tree, nil
	}
	s, defaults := suitespec.Compile(l.Unit, l.testEnv(), src, tree)
	return s, tree, defaults
}
