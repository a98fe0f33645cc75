package dsl

import (
	"path/filepath"
	"slices"
)

// Tried says whether the tests of the spec, or a suite that it names, hold a
// text: a case or a variant may choose an llm or a prompt that the spec itself
// leaves alone, and a suite may have one of its llms judge.
func (p *Pass) Tried(name string) bool {
	if p.Spec.tree.get("tests").holds(name) {
		return true
	}
	suites := p.Spec.tree.get("evals")
	return suites != nil && slices.ContainsFunc(suites.items, func(it *value) bool {
		if it.kind != text || it.src == nil {
			return false
		}
		src, no := p.files.open(filepath.Join(filepath.Dir(it.src.path), filepath.FromSlash(it.text)), it.text)
		return no == nil && parse(src, &report{}).holds(name)
	})
}

// holds says whether a text is a value, or stands anywhere in it.
func (v *value) holds(words string) bool {
	if v == nil {
		return false
	}
	return v.kind == text && v.text == words ||
		slices.ContainsFunc(v.items, func(it *value) bool { return it.holds(words) }) ||
		slices.ContainsFunc(v.entries, func(e *entry) bool { return e.val.holds(words) })
}
