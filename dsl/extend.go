package dsl

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
)

// maxBases bounds how many specs one extends, each the next.
const maxBases = 8

// extendsKeys is the key extends where it says more than a file.
type extendsKeys struct {
	Spec    string   `yaml:"spec" required:"true" doc:"The spec that this one extends; a folder means its spec.yaml."`
	Without []string `yaml:"without" doc:"Dotted names of what is not taken over: tools.write_file, guards.stuck, output."`
}

// extend lays a spec over the one that it extends, if it does, and gives its
// place to both: what it says itself is the stronger. A spec is extended with
// all that it includes and extends itself, but without its tests. chain are the
// files on the way here. It is false where what it extends cannot be read, and
// nothing can be said of the rest.
func (l *loader) extend(tree *value, src *source, chain []string) bool {
	e := tree.find("extends")
	if e == nil {
		return true
	}
	tree.drop("extends")
	if textAt(tree, "kind") == kindLibrary {
		l.report.error(diag.UnknownKey, e.place, "a Library extends nothing").Hint = "include the other one: include: [file]"
		return true
	}
	keys, ok := l.extends(e.val)
	if !ok {
		return false
	}
	base := l.base(keys.Spec, append(slices.Clip(chain), src.path))
	if base == nil {
		return false
	}
	for _, name := range keys.Without {
		l.leaveOut(base, name, keys.Spec)
	}
	base.drop("tests", "evals")
	tree.entries = merged("", base, tree).entries
	return true
}

// extending is the key extends, read.
type extending struct {
	Spec    *value
	Without []*value
}

func (l *loader) extends(v *value) (k extending, ok bool) {
	if v.kind == text {
		return extending{Spec: v}, true
	}
	before := len(l.report.list)
	c := newCompiler(l, v, "")
	var keys extendsKeys
	if v.kind != dict {
		l.report.error(diag.WrongType, v.place, "extends wants the file of a spec, not %s", v.describe()).Hint = "write extends: base.yaml, or {spec: base.yaml, without: [tools.x]}"
		return k, false
	}
	c.decode(v, "extends", &keys)
	if l.report.failedSince(before) {
		return k, false
	}
	k.Spec = v.get("spec")
	if without := v.get("without"); without != nil {
		k.Without = without.items
	}
	return k, true
}

// base reads the spec that a value names, whole; nil = reported.
func (l *loader) base(v *value, chain []string) *value {
	src := l.specNamed(v, v.text)
	switch {
	case src == nil:
		return nil
	case slices.Contains(chain, src.path):
		l.report.error(diag.Cycle, v.place, "%s extends itself: %s", src.name, l.route(append(chain, src.path)))
		return nil
	case len(chain) > maxBases:
		l.report.error(diag.Cycle, v.place, "specs extend specs more than %d deep", maxBases)
		return nil
	}
	src.kind = extendedFile
	tree := l.mapping(src, "a spec")
	if tree == nil {
		return nil
	}
	if kind := textAt(tree, "kind"); kind != kindAgent {
		at := tree.place
		if e := tree.find("kind"); e != nil {
			at = e.val.place
		}
		l.report.error(diag.WrongKind, at, "only a spec of kind: Agent can be extended").Hint = "a Library is included: include: [" + v.text + "]"
		return nil
	}
	if !l.extend(tree, src, chain) {
		return nil
	}
	l.include(tree, src)
	return tree
}

// specNamed opens the spec that a value names; a folder means its spec.yaml.
// nil = reported.
func (l *loader) specNamed(v *value, name string) *source {
	src, no := l.files.read(v.src, name)
	if no != nil && no.code == diag.Unreadable && strings.TrimSpace(name) != "" {
		within, nor := l.files.read(v.src, filepath.Join(name, defaultFile))
		if nor == nil || strings.HasSuffix(no.message, errNotFile.Error()) {
			src, no = within, nor
		}
	}
	if no != nil {
		if _, miss := l.files.read(v.src, name+".yaml"); miss == nil && no.Hint == "" {
			no.Advice = diag.DidYouMean(filepath.Base(name), filepath.Base(name)+".yaml", "")
		}
		l.refuse(v.place, no)
		return nil
	}
	return src
}

// leaveOut removes what a dotted name leads to.
func (l *loader) leaveOut(base, name, of *value) {
	at := base
	parts := strings.Split(name.text, ".")
	last := len(parts) - 1
	for i, part := range parts {
		below := at.named(part)
		switch {
		case below == nil:
			l.report.error(diag.UnknownKey, name.place, "%s has no %s to leave out", of.text, quoted(name.text)).Advice = otherwise(at, parts[:i], part)
			return
		case i < last:
			at = below
		case at.kind == list:
			at.items = slices.DeleteFunc(at.items, func(it *value) bool { return it == below })
		default:
			at.drop(part)
		}
	}
}

// otherwise is the hint where a name leads nowhere from a value on.
func otherwise(at *value, way []string, part string) diag.Advice {
	if names := at.names(); len(names) > 0 || at.kind == dict {
		return diag.Suggest(part, names)
	}
	return diag.Advice{Hint: strings.Join(way, ".") + " is left out as a whole, or not at all"}
}

// named is what a mapping has under a key, or a list under a name; nil = nothing.
func (v *value) named(name string) *value {
	if v.kind == list {
		i := slices.IndexFunc(v.items, func(it *value) bool { return name != "" && textAt(it, "name") == name })
		if i < 0 {
			return nil
		}
		return v.items[i]
	}
	if e := v.find(name); e != nil {
		return e.val
	}
	return nil
}

// names are the keys of a mapping, or the names of a list's items.
func (v *value) names() []string {
	if v.kind != list {
		return v.keys()
	}
	var out []string
	for _, it := range v.items {
		if name := textAt(it, "name"); name != "" {
			out = append(out, name)
		}
	}
	return out
}
