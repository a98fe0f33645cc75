package dsl

import (
	"slices"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/dsl/testspec"
)

func (l *loader) loadTests(path string) (*testspec.Tests, *syntax.Node) {
	path = specfs.InFolder(path, specfs.CaseFile, specfs.SpecFile)
	src := l.openFile(path, path, specfs.TestRoot)
	if src == nil {
		return nil, nil
	}
	tree := l.mapping(src, "a test file")
	if tree == nil {
		return nil, nil
	}
	return testspec.Compile(l.Unit, l.testEnv(), src, tree), tree
}

// LoadTests reads tests: those in a spec, a file of kind: Tests, or a case.yaml
// (a folder means its case.yaml, or else its spec.yaml). It reports their
// mistakes, and the errors of their specs. The Tests are nil only if there is
// nothing to show.
//
// Tests are the same on every machine: the overrides of the options do not apply.
func LoadTests(path string, o Options) (*testspec.Tests, diag.List) {
	l := newLoader(o)
	t, _ := l.loadTests(path)
	return t, l.Report.List.Sort()
}

// mapping parses a file that must be a mapping. It returns nil after reporting an
// error.
func (l *loader) mapping(src *syntax.Source, what string) *syntax.Node {
	if !slices.Contains(l.ReadPaths, src.Path) {
		l.ReadPaths = append(l.ReadPaths, src.Path)
	}
	tree := syntax.Parse(src, l.Report)
	if tree != nil && tree.Kind != syntax.Map {
		d := l.Report.Error(diag.WrongType, tree.Position, "%s must be a mapping, got %s", what, tree.Describe())
		if d.Hint = "start with apiVersion: " + language.Version; specfs.IsCase(src.Path) {
			d.Hint = "write render: planner or run: {}"
		}
		return nil
	}
	return tree
}

// inlineTests checks the tests and evals of a spec that is being compiled, as far
// as that needs no other program.
func (l *loader) inlineTests(c *compiler, s *Spec) {
	if c.doc.Tests != nil || c.doc.Evals != nil {
		testspec.CheckInline(l.Unit, l.testEnv(), s.File, s.subject, c.tree, c.doc.Tests, c.doc.Evals)
	}
}

// testEnv returns the loader's environment for tests and suites.
func (l *loader) testEnv() *testspec.Env {
	return &testspec.Env{
		Catalog: &l.options.Catalog, Checks: l.options.Checks, Prices: l.options.Prices, AllowPaths: l.options.AllowPaths,
		Strict: l.options.vetting, Done: l.options.cancelled,
		Load: func(path, shown string, set []string) (*testspec.Subject, string, diag.List) {
			s, found := l.programs().load(path, shown, set)
			if s == nil || found.Failed() {
				return nil, "", found
			}
			return s.subject, s.Kind, found
		},
		Untyped: func(at syntax.Position, server, spec string) {
			l.untypedServer(at, server, func() string { return spec })
		},
	}
}
