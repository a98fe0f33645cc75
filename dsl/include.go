package dsl

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
)

// libraryKeys are what a Library shares.
var libraryKeys = []string{"llms", "tools", "prompts"}

// maxIncludes bounds the files that one spec includes, all levels together.
const maxIncludes = 64

// include merges the Libraries that a tree names into it, by name; the key
// itself goes.
func (l *loader) include(tree *value, src *source) {
	m := &merger{loader: l, into: tree}
	m.all(tree, []string{src.path})
	tree.drop("include")
}

type merger struct {
	*loader
	into  *value
	done  []string
	count int
}

// all merges the files that one file names; chain is how it was reached.
func (m *merger) all(tree *value, chain []string) {
	names := tree.get("include")
	if names == nil {
		return
	}
	if names.kind != list {
		m.report.error(diag.WrongType, names.place, "include wants a list of files, not %s", names.describe()).Hint = "write [" + names.text + "]"
		return
	}
	for _, n := range names.items {
		if n.kind != text {
			m.report.error(diag.WrongType, n.place, "include wants a list of files, not %s", n.describe())
			continue
		}
		m.one(n, chain)
	}
}

func (m *merger) one(n *value, chain []string) {
	src, no := m.files.read(n.src, n.text)
	if no != nil {
		m.refuse(n.place, no)
		return
	}
	if slices.Contains(chain, src.path) {
		m.report.error(diag.Cycle, n.place, "%s includes itself: %s", src.name, m.route(append(slices.Clip(chain), src.path)))
		return
	}
	if slices.Contains(m.done, src.path) {
		return // two files may include the same third
	}
	if m.count++; m.count > maxIncludes {
		m.report.error(diag.TooLarge, n.place, "more than %d files are included", maxIncludes)
		return
	}
	m.done = append(m.done, src.path)
	m.loader.read = append(m.loader.read, src.path)
	src.kind = includedFile
	tree := parse(src, m.report)
	if tree == nil || !m.isLibrary(tree, n) {
		return
	}
	m.take(tree)
	m.all(tree, append(slices.Clip(chain), src.path))
}

// route names paths, each leading to the next.
func (l *loader) route(paths []string) string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = l.files.name(p)
	}
	return strings.Join(names, " -> ")
}

// isLibrary reports an included file that is none: a file of another kind is right
// where it stands, and wrong where it is named.
func (m *merger) isLibrary(tree, named *value) bool {
	if tree.kind != dict {
		m.report.error(diag.WrongType, tree.place, "a Library is a mapping, not %s", tree.describe())
		return false
	}
	kind := tree.find("kind")
	switch {
	case kind != nil && kind.val.text == "Library":
		return true
	case kind != nil && slices.Contains(kinds, kind.val.text):
		d := m.report.error(diag.WrongKind, named.place, "%s is of kind: %s, and only a Library can be included", named.text, kind.val.text)
		if d.Hint = "move what is shared into a file of kind: Library"; kind.val.text == kindAgent && named.src.kind == specFile {
			d.Hint = "extends: " + named.text + " builds on it, and a tool {type: agent, ref: " + named.text + "} calls it; what both share goes into a Library"
		}
	case kind != nil:
		m.report.error(diag.WrongKind, kind.val.place, "only files of kind: Library can be included").Hint = "write kind: Library"
	default:
		m.report.error(diag.WrongKind, tree.place, "only files of kind: Library can be included").Hint = "write kind: Library"
	}
	return false
}

// onlyShared reports the keys that a Library does not have, and removes them.
func (l *loader) onlyShared(tree *value) {
	allowed := append([]string{"apiVersion", "kind", "metadata", "include"}, libraryKeys...)
	tree.entries = slices.DeleteFunc(tree.entries, func(e *entry) bool {
		if slices.Contains(allowed, e.key) {
			return false
		}
		l.report.error(diag.UnknownKey, e.place, "a Library has no %s", e.key).Advice = diag.Suggest(e.key, allowed)
		return true
	})
}

// take puts the named entries of a Library into the spec.
func (m *merger) take(tree *value) {
	m.onlyShared(tree)
	for _, e := range tree.entries {
		if !slices.Contains(libraryKeys, e.key) || e.val.kind == null {
			continue
		}
		if e.val.kind != dict {
			m.report.error(diag.WrongType, e.val.place, "%s wants a mapping of names, not %s", e.key, e.val.describe())
			continue
		}
		m.names(e)
	}
}

func (m *merger) names(section *entry) {
	into := m.into.find(section.key)
	if into == nil || into.val.kind == null {
		m.into.set(section.key, section.place, &value{place: section.val.place, kind: dict})
		into = m.into.find(section.key)
	}
	if into.val.kind != dict {
		return // the decoder reports it
	}
	for _, e := range section.val.entries {
		first := into.val.find(e.key)
		switch {
		case first != nil && first.place.is(e.place): // what it extends includes the same
			continue
		case first != nil:
			m.report.error(diag.IncludeClash, e.place, "%s.%s is already defined at %s", section.key, e.key, where(first.place)).
				Hint = "rename one of them"
			continue
		}
		into.val.entries = append(into.val.entries, e)
	}
}

// where names a place for a message.
func where(p place) string {
	switch {
	case p.src == nil:
		return "nowhere"
	case p.src.kind == flagText || p.src.kind == envText || p.line == 0:
		return p.src.name
	}
	return p.src.name + ":" + itoa(p.line) + ":" + itoa(p.col)
}
