package dsl

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
)

// maxBases is the maximum length of a chain of extends.
const maxBases = 8

// extend resolves the key extends: it merges the spec over its base, and the
// spec's own values win. The base includes everything that it includes and
// extends itself, except its tests. chain holds the files on the way here. extend
// returns false if the base cannot be read and the result is unusable.
func (l *loader) extend(tree *syntax.Node, src *syntax.Source, chain []string) bool {
	e := tree.Find("extends")
	if e == nil {
		return true
	}
	tree.Drop("extends")
	if syntax.TextOf(tree, "kind") == specfs.KindLibrary {
		l.Report.Error(diag.UnknownKey, e.Position, "a Library cannot use extends").Hint = "use include instead: include: [FILE]"
		return true
	}
	keys, ok := l.extends(e.Value)
	if !ok {
		return false
	}
	base := l.base(keys.Spec, append(slices.Clip(chain), src.Path))
	if base == nil {
		return false
	}
	for _, name := range keys.Without {
		l.removePath(base, name, keys.Spec)
	}
	base.Drop("tests", "evals")
	tree.Entries = mergeSpecs("", base, tree).Entries
	return true
}

// extendsKey is the decoded key extends.
type extendsKey struct {
	Spec    *syntax.Node
	Without []*syntax.Node
}

func (l *loader) extends(v *syntax.Node) (k extendsKey, ok bool) {
	if v.Kind == syntax.Text {
		return extendsKey{Spec: v}, true
	}
	before := len(l.Report.List)
	c := newCompiler(l, v, "")
	var keys language.ExtendsKeys
	if v.Kind != syntax.Map {
		l.Report.Error(diag.WrongType, v.Position, "extends must be the path of a spec, got %s", v.Describe()).Hint = "write extends: base.yaml or extends: {spec: base.yaml, without: [tools.x]}"
		return k, false
	}
	c.Decode(v, "extends", &keys)
	if l.Report.FailedSince(before) {
		return k, false
	}
	k.Spec = v.Get("spec")
	if without := v.Get("without"); without != nil {
		k.Without = without.Items
	}
	return k, true
}

// base reads the spec that a value names, completely. It returns nil after
// reporting an error.
func (l *loader) base(v *syntax.Node, chain []string) *syntax.Node {
	src := l.specNamed(v, v.Text)
	switch {
	case src == nil:
		return nil
	case slices.Contains(chain, src.Path):
		l.Report.Error(diag.Cycle, v.Position, "%s extends itself: %s", src.Name, l.route(append(chain, src.Path)))
		return nil
	case len(chain) > maxBases:
		l.Report.Error(diag.Cycle, v.Position, "specs extend specs more than %d levels deep", maxBases)
		return nil
	}
	src.Kind = syntax.ExtendedFile
	tree := l.mapping(src, "a spec")
	if tree == nil {
		return nil
	}
	if kind := syntax.TextOf(tree, "kind"); kind != specfs.KindAgent {
		at := tree.Position
		if e := tree.Find("kind"); e != nil {
			at = e.Value.Position
		}
		l.Report.Error(diag.WrongKind, at, "only a spec of kind: Agent can be extended").Hint = "include a Library: include: [" + v.Text + "]"
		return nil
	}
	if !l.extend(tree, src, chain) {
		return nil
	}
	l.include(tree, src)
	return tree
}

// specNamed opens the spec that a value names; a folder means its spec.yaml. It
// returns nil after reporting an error.
func (l *loader) specNamed(v *syntax.Node, name string) *syntax.Source {
	src, no := l.Files.Read(v.Source, name)
	if no != nil && no.Code == diag.Unreadable && strings.TrimSpace(name) != "" {
		within, nor := l.Files.Read(v.Source, filepath.Join(name, specfs.SpecFile))
		if nor == nil || strings.HasSuffix(no.Message, specfs.ErrNotFile.Error()) {
			src, no = within, nor
		}
	}
	if no != nil {
		if _, miss := l.Files.Read(v.Source, name+".yaml"); miss == nil && no.Hint == "" {
			no.Advice = diag.DidYouMean(filepath.Base(name), filepath.Base(name)+".yaml", "")
		}
		l.ReportRefusal(v.Position, no)
		return nil
	}
	return src
}

// removePath removes the value at a dotted name.
func (l *loader) removePath(base, name, of *syntax.Node) {
	at := base
	parts := strings.Split(name.Text, ".")
	last := len(parts) - 1
	for i, part := range parts {
		below := lookupNamed(at, part)
		switch {
		case below == nil:
			l.Report.Error(diag.UnknownKey, name.Position, "cannot remove %s: %s does not define it", syntax.Quote(name.Text), of.Text).Advice = missingAdvice(at, parts[:i], part)
			return
		case i < last:
			at = below
		case at.Kind == syntax.List:
			at.Items = slices.DeleteFunc(at.Items, func(it *syntax.Node) bool { return it == below })
		default:
			at.Drop(part)
		}
	}
}

// missingAdvice returns the hint for a name that does not exist below a value.
func missingAdvice(at *syntax.Node, way []string, part string) diag.Advice {
	if names := namesIn(at); len(names) > 0 || at.Kind == syntax.Map {
		return diag.Suggest(part, names)
	}
	return diag.Advice{Hint: strings.Join(way, ".") + " can only be left out as a whole"}
}

// lookupNamed returns the value of a mapping's key or the list item with a name, or
// nil.
func lookupNamed(v *syntax.Node, name string) *syntax.Node {
	if v.Kind == syntax.List {
		i := slices.IndexFunc(v.Items, func(it *syntax.Node) bool { return name != "" && syntax.TextOf(it, "name") == name })
		if i < 0 {
			return nil
		}
		return v.Items[i]
	}
	if e := v.Find(name); e != nil {
		return e.Value
	}
	return nil
}

// namesIn returns the keys of a mapping, or the names of a list's items.
func namesIn(v *syntax.Node) []string {
	if v.Kind != syntax.List {
		return v.Keys()
	}
	var out []string
	for _, it := range v.Items {
		if name := syntax.TextOf(it, "name"); name != "" {
			out = append(out, name)
		}
	}
	return out
}
