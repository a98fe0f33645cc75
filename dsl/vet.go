package dsl

import (
	"os"
	"path/filepath"

	"github.com/pexctl/pex/dsl/diag"
)

// Vet reports all that is wrong with a file of any kind, and with the tests and
// suites that a spec names (a folder means its spec.yaml, else its case.yaml or
// suite.yaml). It returns the file's values with their origins, sorted by path.
func Vet(path string, o Options) ([]Origin, diag.List) {
	path = inFolder(path, defaultFile, caseFile, suiteFile)
	if o.Programs == nil {
		o.Programs = NewPrograms(o)
	}
	switch kind, _ := Kind(path); kind { // what cannot be read is reported by who loads it
	case kindTests:
		return vetTests(path, o)
	case kindSuite:
		l := newLoader(o)
		_, tree, defaults := l.loadSuite(path)
		return origins(tree, defaults), l.report.list.Sort()
	case kindPrices:
		l := newLoader(o)
		_, tree := l.loadPrices(path)
		return origins(tree, nil), l.report.list.Sort()
	}
	s, found := Load(path, o)
	if s == nil {
		return nil, found
	}
	if s.tree.get("tests") != nil && s.Kind == kindAgent {
		_, more := LoadTests(path, o)
		found = append(found, more...)
	}
	for _, suite := range s.suites() {
		_, more := LoadSuite(suite, o.without())
		found = append(found, more...)
	}
	return s.Explain(), found.Sort()
}

// without is the options less the overrides, which are of another file.
func (o Options) without() Options {
	o.Set, o.Environ = nil, nil
	return o
}

func vetTests(path string, o Options) ([]Origin, diag.List) {
	l := newLoader(o.without())
	_, tree := l.loadTests(path)
	for _, s := range o.Set {
		d := l.report.error(diag.BadOverride, place{&source{name: "--set " + s, text: []byte(s), kind: flagText}, 1, 1}, "tests take no overrides")
		d.Hint = "a case has its own: set: {limits.max_steps: 3}"
	}
	return origins(tree, nil), l.report.list.Sort()
}

// suites lists the suites that a spec names and that are there, as paths that
// people would write.
func (s *Spec) suites() []string {
	v := s.tree.get("evals")
	if v == nil || v.kind != list {
		return nil
	}
	var out []string
	for _, it := range v.items {
		if it.kind != text || it.src == nil {
			continue
		}
		path := filepath.Join(filepath.Dir(it.src.name), filepath.FromSlash(it.text))
		if _, err := os.Stat(path); err == nil { // else loading the spec told
			out = append(out, path)
		}
	}
	return out
}
