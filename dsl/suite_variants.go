package dsl

import (
	"path/filepath"
	"regexp"

	"github.com/pexctl/pex/dsl/diag"
)

// maxVariants bounds the variants of a suite: each is a program of its own.
const maxVariants = 100

var variantName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// variants finds the ways in which cases are run, and compiles their specs.
func (b *suiter) variants() {
	specs := b.tree.get("specs")
	if specs != nil {
		for _, key := range []string{"spec", "variants"} {
			if e := b.tree.find(key); e != nil && e.val.kind != null {
				b.report.error(diag.Exclusive, e.place, "specs and %s exclude each other", key).
					Hint = "write variants: {name: {spec: file, set: {...}}}"
			}
		}
		b.ofSpecs(specs)
	} else {
		b.ofVariants()
	}
	if len(b.suite.Variants) == 0 { // reported
		b.add(Variant{}, b.tree.place, nil)
	}
}

// ofSpecs makes a variant of each spec, with the name of its agent.
func (b *suiter) ofSpecs(v *value) {
	names := map[string]place{}
	for i, written := range b.keys.Specs {
		at := v.items[i]
		path := b.first.specFile(at, written)
		if path == "" {
			continue
		}
		s := b.under(at.place, path, nil)
		name := ""
		if s != nil {
			name = s.program.Name
		}
		if first, ok := names[name]; ok && s != nil {
			b.report.error(diag.DuplicateKey, at.place, "the specs at %s and here have the same name %s", where(first), quoted(name)).
				Hint = "write variants: {a: {spec: file}, b: {spec: other}}"
		}
		names[name] = at.place
		b.suite.Variants = append(b.suite.Variants, Variant{Name: name, Spec: path, Position: at.place.position()})
		b.specs = append(b.specs, s)
	}
}

// ofVariants reads the section variants; without one there is a single variant
// that has no name.
func (b *suiter) ofVariants() {
	section := b.first.section("variants", b.keys.Variants)
	path, at := b.spec(section)
	if len(section.entries) == 0 {
		b.add(Variant{Spec: path}, at, nil)
		return
	}
	if n := len(section.entries); n > maxVariants {
		b.report.error(diag.TooLarge, b.keys.Variants.place, "%d variants are more than the %d of a suite", n, maxVariants)
	}
	for _, e := range section.entries[:min(len(section.entries), maxVariants)] {
		if !variantName.MatchString(e.key) {
			b.report.error(diag.BadName, e.place, "%s cannot be the name of a variant", quoted(e.key)).
				Hint = "names are letters, digits, _, - and ., and begin with a letter or digit"
		}
		k := variantKeys{}
		b.first.decode(e.val, "variants."+e.key, &k)
		own, place := path, at
		if v := e.val.get("spec"); v != nil && k.Spec != "" {
			own, place = b.first.specFile(v, k.Spec), v.place
		}
		set := b.first.settings(k.Set, "variants."+e.key+".set")
		b.add(Variant{Name: e.key, Spec: own, Set: textsOf(set), Position: e.place.position()}, place, set)
	}
}

// spec is the spec of variants that name none, and where it is named; nothing
// is wrong without one where each variant names its own.
func (b *suiter) spec(variants *value) (string, place) {
	if v := b.tree.get("spec"); v != nil {
		if b.keys.Spec == "" {
			return "", v.place // reported
		}
		return b.first.specFile(v, b.keys.Spec), v.place
	}
	path := nearestSpec(b.files, []string{b.suite.Dir, filepath.Dir(b.suite.Dir)})
	if path != "" {
		return path, b.tree.place
	}
	for _, e := range variants.entries {
		if e.val.get("spec") == nil {
			b.report.error(diag.MissingKey, e.place, "nothing says which spec the variant %s runs", e.key).Hint = "write spec: path"
		}
	}
	if len(variants.entries) == 0 {
		b.report.error(diag.MissingKey, b.tree.place, "nothing says which spec is evaluated: there is no %s near", defaultFile).Hint = "write spec: path"
	}
	return "", b.tree.place
}

// add adds a variant and compiles its spec.
func (b *suiter) add(v Variant, at place, set []setting) {
	if v.Name == "" {
		v.Position = at.position()
	}
	var s *Spec
	if v.Spec != "" {
		s = b.under(at, v.Spec, set)
	}
	b.suite.Variants, b.specs = append(b.suite.Variants, v), append(b.specs, s)
}
