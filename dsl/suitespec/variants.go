package suitespec

import (
	"path/filepath"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine/text"
)

// maxVariants is the maximum number of variants of a suite: each has its own
// program.
const maxVariants = 100

var variantName = text.Regexp(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)

// variants determines the variants and compiles their specs.
func (b *compiler) variants() {
	specs := b.tree.Get("specs")
	if specs != nil {
		for _, key := range []string{"spec", "variants"} {
			if e := b.tree.Find(key); e != nil && e.Value.Kind != syntax.Null {
				b.Report.Error(diag.Exclusive, e.Position, "specs and %s are mutually exclusive", key).
					Hint = "write variants: {NAME: {spec: FILE, set: {...}}}"
			}
		}
		b.ofSpecs(specs)
	} else {
		b.ofVariants()
	}
	if len(b.suite.Variants) == 0 { // already reported
		b.add(Variant{}, b.tree.Position, nil)
	}
}

// ofSpecs makes a variant of each spec, with the name of its agent.
func (b *compiler) ofSpecs(v *syntax.Node) {
	names := map[string]syntax.Position{}
	for i, written := range b.keys.Specs {
		at := v.Items[i]
		path := b.first.SpecFile(at, written)
		if path == "" {
			continue
		}
		s := b.load(at.Position, path, nil)
		name := ""
		if s != nil {
			name = s.Program.Name
		}
		if first, ok := names[name]; ok && s != nil {
			b.Report.Error(diag.DuplicateKey, at.Position, "duplicate spec name %[2]s; the first one is at %[1]s", syntax.Where(first), syntax.Quote(name)).
				Hint = "name them: variants: {a: {spec: FILE}, b: {spec: OTHER}}"
		}
		names[name] = at.Position
		b.suite.Variants = append(b.suite.Variants, Variant{Name: name, Spec: path, Position: testspec.PositionOf(at.Position)})
		b.specs = append(b.specs, s)
	}
}

// ofVariants decodes the section variants. Without it there is a single variant
// without a name.
func (b *compiler) ofVariants() {
	section := b.first.Section("variants", b.keys.Variants)
	path, at := b.spec(section)
	if len(section.Entries) == 0 {
		b.add(Variant{Spec: path}, at, nil)
		return
	}
	if n := len(section.Entries); n > maxVariants {
		b.Report.Error(diag.TooLarge, b.keys.Variants.Position, "the suite has %d variants; the maximum is %d", n, maxVariants)
	}
	for _, e := range section.Entries[:min(len(section.Entries), maxVariants)] {
		if !variantName().MatchString(e.Key) {
			b.Report.Error(diag.BadName, e.Position, "invalid name %s for a variant", syntax.Quote(e.Key)).
				Hint = "a name starts with a letter or digit and contains only letters, digits, _, - and ."
		}
		k := language.VariantKeys{}
		b.first.Decode(e.Value, "variants."+e.Key, &k)
		own, place := path, at
		if v := e.Value.Get("spec"); v != nil && k.Spec != "" {
			own, place = b.first.SpecFile(v, k.Spec), v.Position
		}
		set := b.first.Overrides(k.Set, "variants."+e.Key+".set")
		b.add(Variant{Name: e.Key, Spec: own, Set: testspec.TextsOf(set), Position: testspec.PositionOf(e.Position)}, place, set)
	}
}

// spec returns the spec of variants that name none, and its place. It is optional
// if each variant names its own.
func (b *compiler) spec(variants *syntax.Node) (string, syntax.Position) {
	if v := b.tree.Get("spec"); v != nil {
		if b.keys.Spec == "" {
			return "", v.Position // already reported
		}
		return b.first.SpecFile(v, b.keys.Spec), v.Position
	}
	path := specfs.NearestSpec(b.Files, []string{b.suite.Dir, filepath.Dir(b.suite.Dir)})
	if path != "" {
		return path, b.tree.Position
	}
	for _, e := range variants.Entries {
		if e.Value.Get("spec") == nil {
			b.Report.Error(diag.MissingKey, e.Position, "the variant %q has no spec", e.Key).Hint = "write spec: PATH"
		}
	}
	if len(variants.Entries) == 0 {
		b.Report.Error(diag.MissingKey, b.tree.Position, "the suite has no spec, and there is no %s near it", specfs.SpecFile).Hint = "write spec: PATH"
	}
	return "", b.tree.Position
}

// add adds a variant and compiles its spec.
func (b *compiler) add(v Variant, at syntax.Position, set []testspec.Override) {
	if v.Name == "" {
		v.Position = testspec.PositionOf(at)
	}
	var s *testspec.Subject
	if v.Spec != "" {
		s = b.load(at, v.Spec, set)
	}
	b.suite.Variants, b.specs = append(b.suite.Variants, v), append(b.specs, s)
}
