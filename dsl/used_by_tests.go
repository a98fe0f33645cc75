package dsl

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
)

// UsedByTests reports whether tests of the spec, or a suite of it, contain a name: a
// case or a variant may select an LLM, a prompt or a tool that the spec itself
// does not use, and a suite may use an LLM as its judge. They are read on first
// use. If one cannot be read, UsedByTests returns true.
func (p *Pass) UsedByTests(name string) bool {
	if !p.trialsLoaded {
		p.trialsLoaded = true
		p.loadTrials()
	}
	return p.trialsUnreadable || slices.ContainsFunc(p.trials, func(v *syntax.Node) bool { return containsWord(v, name) })
}

// loadTrials returns the tests in the spec, those that FindTests finds beside it,
// the suites that it names, and its suites beside it.
func (p *Pass) loadTrials() {
	p.trials = []*syntax.Node{p.Spec.tree.Get("tests")}
	var paths []string
	if suites := p.Spec.tree.Get("evals"); suites != nil {
		for _, it := range suites.Items {
			if it.Kind == syntax.Text && it.Source != nil {
				paths = append(paths, filepath.Join(filepath.Dir(it.Source.Path), filepath.FromSlash(it.Text)))
			}
		}
	}
	tests, _ := specfs.FindTests(p.Spec.File, p.files.Root) // a folder that cannot be read has none
	for _, path := range append(tests, specfs.SuitesBeside(p.Spec.File, p.files.Root)...) {
		paths = append(paths, specfs.Absolute(path))
	}
	for _, path := range paths {
		if path == p.Spec.File {
			continue
		}
		wrong := &syntax.Report{}
		src, no := p.files.Open(path, path)
		if no == nil {
			p.trials = append(p.trials, syntax.Parse(src, wrong))
		}
		p.trialsUnreadable = p.trialsUnreadable || no != nil || wrong.FailedSince(0)
	}
}

// containsWord reports whether a text is a value, occurs anywhere in it, or is a word in
// the value of a setting (path=value).
func containsWord(v *syntax.Node, words string) bool {
	if v == nil {
		return false
	}
	if v.Kind == syntax.Text {
		_, set, _ := strings.Cut(v.Text, "=")
		return v.Text == words || slices.Contains(strings.FieldsFunc(set, isSeparator), words)
	}
	return slices.ContainsFunc(v.Items, func(it *syntax.Node) bool { return containsWord(it, words) }) ||
		slices.ContainsFunc(v.Entries, func(e *syntax.Entry) bool { return containsWord(e.Value, words) })
}

// isSeparator reports whether a character separates names in a setting.
func isSeparator(r rune) bool { return strings.ContainsRune(" {}[],:\"'", r) }
