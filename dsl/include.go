package dsl

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
)

// maxIncludes is the maximum number of files that one spec includes, at all
// levels.
const maxIncludes = 64

// include merges the Libraries that a tree includes, by name, and removes the
// key.
func (l *loader) include(tree *syntax.Node, src *syntax.Source) {
	m := &merger{loader: l, into: tree}
	m.includeAll(tree, []string{src.Path})
	tree.Drop("include")
}

type merger struct {
	*loader
	into  *syntax.Node
	done  []string
	count int
}

// includeAll merges the files that one file includes. chain holds the files on the way
// here.
func (m *merger) includeAll(tree *syntax.Node, chain []string) {
	names := tree.Get("include")
	if names == nil {
		return
	}
	if names.Kind != syntax.List {
		m.Report.Error(diag.WrongType, names.Position, "include must be a list of files, got %s", names.Describe()).Hint = "write [" + names.Text + "]"
		return
	}
	for _, n := range names.Items {
		if n.Kind != syntax.Text {
			m.Report.Error(diag.WrongType, n.Position, "include must be a list of files, got %s", n.Describe())
			continue
		}
		m.includeOne(n, chain)
	}
}

func (m *merger) includeOne(n *syntax.Node, chain []string) {
	src, no := m.Files.Read(n.Source, n.Text)
	if no != nil {
		m.ReportRefusal(n.Position, no)
		return
	}
	if slices.Contains(chain, src.Path) {
		m.Report.Error(diag.Cycle, n.Position, "%s includes itself: %s", src.Name, m.route(append(slices.Clip(chain), src.Path)))
		return
	}
	if slices.Contains(m.done, src.Path) {
		return // two files may include the same one
	}
	if m.count++; m.count > maxIncludes {
		m.Report.Error(diag.TooLarge, n.Position, "the spec includes more than %d files", maxIncludes)
		return
	}
	m.done = append(m.done, src.Path)
	m.loader.ReadPaths = append(m.loader.ReadPaths, src.Path)
	src.Kind = syntax.IncludedFile
	tree := syntax.Parse(src, m.Report)
	if tree == nil || !m.isLibrary(tree, n) {
		return
	}
	m.addLibrary(tree)
	m.includeAll(tree, append(slices.Clip(chain), src.Path))
}

// route formats a chain of paths.
func (l *loader) route(paths []string) string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = l.Files.Shown(p)
	}
	return strings.Join(names, " -> ")
}

// isLibrary reports an included file that is not a Library, at the place that
// includes it.
func (m *merger) isLibrary(tree, named *syntax.Node) bool {
	if tree.Kind != syntax.Map {
		m.Report.Error(diag.WrongType, tree.Position, "a Library must be a mapping, got %s", tree.Describe())
		return false
	}
	kind := tree.Find("kind")
	switch {
	case kind != nil && kind.Value.Text == "Library":
		return true
	case kind != nil && slices.Contains(specfs.Kinds, kind.Value.Text):
		d := m.Report.Error(diag.WrongKind, named.Position, "%s has kind: %s; only a Library can be included", named.Text, kind.Value.Text)
		if d.Hint = "move the shared definitions to a file of kind: Library"; kind.Value.Text == specfs.KindAgent && named.Source.Kind == syntax.SpecFile {
			d.Hint = "to build on it, write extends: " + named.Text + "; to call it, add a tool {type: agent, ref: " + named.Text + "}; move shared definitions to a Library"
		}
	case kind != nil:
		m.Report.Error(diag.WrongKind, kind.Value.Position, "only files of kind: Library can be included").Hint = "write kind: Library"
	default:
		m.Report.Error(diag.WrongKind, tree.Position, "only files of kind: Library can be included").Hint = "write kind: Library"
	}
	return false
}

// onlyShared reports and removes the keys that a Library cannot have.
func (l *loader) onlyShared(tree *syntax.Node) {
	allowed := append([]string{"apiVersion", "kind", "metadata", "include"}, language.LibraryKeys...)
	tree.Entries = slices.DeleteFunc(tree.Entries, func(e *syntax.Entry) bool {
		if slices.Contains(allowed, e.Key) {
			return false
		}
		l.Report.Error(diag.UnknownKey, e.Position, "unknown key %q in a Library", e.Key).Advice = diag.Suggest(e.Key, allowed)
		return true
	})
}

// addLibrary adds the named entries of a Library to the spec.
func (m *merger) addLibrary(tree *syntax.Node) {
	m.onlyShared(tree)
	for _, e := range tree.Entries {
		if !slices.Contains(language.LibraryKeys, e.Key) || e.Value.Kind == syntax.Null {
			continue
		}
		if e.Value.Kind != syntax.Map {
			m.Report.Error(diag.WrongType, e.Value.Position, "%s must be a mapping with names as keys, got %s", e.Key, e.Value.Describe())
			continue
		}
		m.names(e)
	}
}

func (m *merger) names(section *syntax.Entry) {
	into := m.into.Find(section.Key)
	if into == nil || into.Value.Kind == syntax.Null {
		m.into.Set(section.Key, section.Position, &syntax.Node{Position: section.Value.Position, Kind: syntax.Map})
		into = m.into.Find(section.Key)
	}
	if into.Value.Kind != syntax.Map {
		return // reported by the decoder
	}
	for _, e := range section.Value.Entries {
		first := into.Value.Find(e.Key)
		switch {
		case first != nil && first.Position.Same(e.Position): // the base includes the same file
			continue
		case first != nil:
			m.Report.Error(diag.IncludeClash, e.Position, "%s.%s is already defined at %s", section.Key, e.Key, syntax.Where(first.Position)).
				Hint = "rename one of them"
			continue
		}
		into.Value.Entries = append(into.Value.Entries, e)
	}
}
