package dsl

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
)

// Vet reports all mistakes in a file of any kind, and in the tests and suites
// that a spec names (a folder means its spec.yaml, or else its case.yaml,
// suite.yaml or server.yaml). It returns the file's values with their origins, sorted by path.
//
// Once Options.Context has ended, it returns as soon as possible without results.
//
// If Options.Analyzers is not nil, it also warns about unused ignore comments of
// the file: only then did all analyzers run.
func Vet(path string, o Options) ([]config.Origin, diag.List) {
	path = specfs.InFolder(path, specfs.SpecFile, specfs.CaseFile, specfs.SuiteFile, specfs.ServerFile)
	if o.Programs == nil {
		o.Programs = NewPrograms(o)
	}
	o.vetting = true
	v := &vetRun{options: o}
	var values []config.Origin
	switch specfs.KindWith(path, o.Read) {
	case specfs.KindTests:
		values = v.tests(path)
	case specfs.KindSuite:
		l := v.loader(o)
		s, tree, defaults := l.loadSuite(path)
		if values = config.Origins(tree, defaults); s != nil {
			v.file = s.File
		}
	case specfs.KindPrices:
		l := v.loader(o)
		_, tree := l.loadPrices(path)
		if values = config.Origins(tree, nil); tree != nil {
			v.file = tree.Source.Path
		}
	case specfs.KindServer:
		l := v.loader(o)
		_, tree, defaults := l.loadServer(path)
		if values = config.Origins(tree, defaults); tree != nil {
			v.file = tree.Source.Path
		}
	case specfs.KindTokens:
		l := v.loader(o)
		_, tree := l.loadTokens(path)
		v.rejectOverrides(l, "token files", "edit the file")
		if values = config.Origins(tree, nil); tree != nil {
			v.file = tree.Source.Path
		}
	default:
		values = v.spec(path)
	}
	return values, v.result()
}

// vetRun loads the files that belong to one file, one after the other. They share
// their ignore comments.
type vetRun struct {
	options Options
	report  *syntax.Report // of the last load; nil if there was none
	found   diag.List
	file    string // the file whose comments are checked; "" for none
}

// loader returns a loader for the next load.
func (v *vetRun) loader(o Options) *loader {
	l := newLoader(o)
	if v.report != nil {
		v.found = append(v.found, v.report.List...)
		l.Report.Ignores = v.report.Ignores
	}
	v.report = l.Report
	return l
}

// spec vets a spec or a Library, with its tests and suites.
func (v *vetRun) spec(path string) []config.Origin {
	s := v.loader(v.options).load(path)
	if s == nil {
		return nil
	}
	if s.Kind == specfs.KindAgent && s.Agent == "" { // warnings of a Library are reported in the specs that include it
		v.file = s.File
	}
	if s.tree.Get("tests") != nil && s.Kind == specfs.KindAgent {
		v.loader(v.options).loadTests(path)
	}
	for _, suite := range s.suites() {
		v.loader(v.options.withoutOverrides()).loadSuite(suite)
	}
	return s.Explain()
}

// tests vets a file of tests, which accepts no overrides.
func (v *vetRun) tests(path string) []config.Origin {
	l := v.loader(v.options.withoutOverrides())
	t, tree := l.loadTests(path)
	if t != nil {
		v.file = t.File
	}
	v.rejectOverrides(l, "tests", "write them in the case: set: {limits.max_steps: 3}")
	return config.Origins(tree, nil)
}

// rejectOverrides reports the overrides for a file of a kind that has none.
func (v *vetRun) rejectOverrides(l *loader, what, hint string) {
	for _, s := range v.options.Set {
		l.Report.Error(diag.BadOverride, syntax.Position{Source: &syntax.Source{Name: "--set " + s, Text: []byte(s), Kind: syntax.Flag}, Line: 1, Column: 1}, "%s do not take overrides", what).Hint = hint
	}
}

// result returns all diagnostics.
func (v *vetRun) result() diag.List {
	if v.report == nil || v.options.cancelled() {
		return nil
	}
	if !v.found.Failed() && v.isComplete() {
		v.report.UnusedIgnores(v.file, func(code diag.Code) bool {
			return code != diag.Unpinned || v.options.Pins != nil
		})
	}
	if v.options.Ignored != nil {
		for _, i := range v.report.Ignores.List() {
			v.options.Ignored(i)
		}
	}
	return append(v.found, v.report.List...).Sort()
}

// isComplete reports whether the file was checked as written, by all analyzers.
func (v *vetRun) isComplete() bool {
	return v.file != "" && v.options.Analyzers != nil && len(v.options.Set) == 0 &&
		!slices.ContainsFunc(v.options.Environ, func(e string) bool { return strings.HasPrefix(e, envPrefix) })
}

// withoutOverrides returns the options without overrides, which apply to another file.
func (o Options) withoutOverrides() Options {
	o.Set, o.Environ = nil, nil
	return o
}

// suites returns the existing suites that a spec names, as the user would write
// their paths.
func (s *Spec) suites() []string {
	v := s.tree.Get("evals")
	if v == nil || v.Kind != syntax.List {
		return nil
	}
	var out []string
	for _, it := range v.Items {
		if it.Kind != syntax.Text || it.Source == nil {
			continue
		}
		path := filepath.Join(filepath.Dir(it.Source.Name), filepath.FromSlash(it.Text))
		if _, err := os.Stat(path); err == nil { // otherwise loading the spec reported it
			out = append(out, path)
		}
	}
	return out
}
