package dsl

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
)

// Tried reports whether tests of the spec, or a suite of it, contain a name: a
// case or a variant may select an LLM, a prompt or a tool that the spec itself
// does not use, and a suite may use an LLM as its judge. They are read on first
// use. If one cannot be read, Tried returns true.
func (p *Pass) Tried(name string) bool {
	if !p.tried {
		p.tried = true
		p.findTrials()
	}
	return p.unread || slices.ContainsFunc(p.trials, func(v *syntax.Node) bool { return holds(v, name) })
}

// findTrials returns the tests in the spec, those that FindTests finds beside it,
// the suites that it names, and its suites beside it.
func (p *Pass) findTrials() {
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
		p.unread = p.unread || no != nil || wrong.FailedSince(0)
	}
}

// holds reports whether a text is a value, occurs anywhere in it, or is a word in
// the value of a setting (path=value).
func holds(v *syntax.Node, words string) bool {
	if v == nil {
		return false
	}
	if v.Kind == syntax.Text {
		_, set, _ := strings.Cut(v.Text, "=")
		return v.Text == words || slices.Contains(strings.FieldsFunc(set, parting), words)
	}
	return slices.ContainsFunc(v.Items, func(it *syntax.Node) bool { return holds(it, words) }) ||
		slices.ContainsFunc(v.Entries, func(e *syntax.Entry) bool { return holds(e.Value, words) })
}

// parting reports whether a character separates names in a setting.
func parting(r rune) bool { return strings.ContainsRune(" {}[],:\"'", r) }
