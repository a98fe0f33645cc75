package config

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/component"
)

// Decode decodes a mapping into structs that share one level. It reports every
// key that none of them has, and compiles the references in them, including those
// of defaults. path is the YAML path, for messages and origins.
func (c *Decoder) Decode(v *syntax.Node, path string, into ...any) {
	targets := make([]reflect.Value, len(into))
	for i, p := range into {
		targets[i] = Struct(p)
	}
	c.fields(v, path, targets...)
}

func (c *Decoder) fields(v *syntax.Node, path string, targets ...reflect.Value) {
	if v.Kind == syntax.Null {
		*v = syntax.Node{Position: v.Position, Kind: syntax.Map}
	}
	if v.Kind != syntax.Map {
		c.WrongType(v, path, "a mapping")
		return
	}
	fields, rest := Fields(targets)
	c.inlineFiles(v, path, fields)
	overrides, meant := c.checkKeys(v, path, fields, rest)
	for _, key := range meant {
		c.Intended[Join(path, key)] = true
	}
	for _, f := range fields {
		switch {
		case f.Value.Type() == ModelRefType:
		case v.Find(f.Key) == nil && slices.Contains(meant, f.Key): // a reported key replaces it
			c.useDefault(f, Join(path, f.Key))
		default:
			c.field(v, f, path)
		}
	}
	if m := ModelField(fields); m != nil {
		c.Language.ModelRef(v, *m, overrides, path)
	}
	slices.SortStableFunc(v.Entries, func(a, b *syntax.Entry) int { return order(fields, a.Key) - order(fields, b.Key) })
}

// order returns the position of a key in the canonical form; unknown keys are
// last.
func order(fields []Field, key string) int {
	for _, f := range fields {
		if f.Key == key {
			return f.order
		}
	}
	return len(fields)
}

// checkKeys reports keys without a field, with the likely field, and returns those
// that override the LLM named beside them.
func (c *Decoder) checkKeys(v *syntax.Node, path string, fields []Field, rest reflect.Value) (overrides *syntax.Node, meant []string) {
	overrides = &syntax.Node{Position: v.Position, Kind: syntax.Map}
	model := ModelField(fields)
	var left []*syntax.Entry
	for _, e := range v.Entries {
		switch {
		case order(fields, e.Key) < len(fields):
		case model != nil && slices.Contains(c.Language.ModelKeys(), e.Key):
			if e.Value.Kind != syntax.Null {
				overrides.Entries = append(overrides.Entries, e)
			}
		default:
			left = append(left, e)
		}
	}
	if rest.IsValid() {
		c.leftOver(left, path, rest)
		return overrides, nil
	}
	all := FieldKeys(fields)
	if model != nil {
		all = append(all, c.Language.ModelKeys()...)
	}
	for _, e := range left {
		advice := c.Language.KeyAdvice(e, path, all)
		c.Report.Error(diag.UnknownKey, e.Position, "unknown key %s in %s", syntax.Quote(e.Key), c.TitleOf(path)).Advice = advice
		if advice.Fix.New != "" {
			meant = append(meant, advice.Fix.New)
		}
	}
	return overrides, meant
}

func (c *Decoder) leftOver(left []*syntax.Entry, path string, rest reflect.Value) {
	if rest.IsNil() {
		rest.Set(reflect.MakeMap(rest.Type()))
	}
	for _, e := range left {
		elem := reflect.New(rest.Type().Elem()).Elem()
		c.DecodeValue(e.Value, Join(path, e.Key), "", elem)
		rest.SetMapIndex(reflect.ValueOf(e.Key), elem)
	}
}

// field decodes one key, or binds its default if it is not written.
func (c *Decoder) field(v *syntax.Node, f Field, path string) {
	e := v.Find(f.Key)
	if e == nil || e.Value.Kind == syntax.Null && !takesNull(f.Value.Type()) {
		if f.Tag.Get("required") != "" {
			at := v.Position
			if e != nil {
				at = e.Position
			}
			report := c.Report.Error
			if f.Tag.Get("required") == "vet" && !c.Strict {
				report = c.Report.Warn
			}
			report(diag.MissingKey, at, "missing required key %s in %s", syntax.Quote(f.Key), c.TitleOf(path)).Hint = cmp.Or(f.Tag.Get("missing"), f.Tag.Get("doc"))
		}
		c.useDefault(f, Join(path, f.Key))
		return
	}
	if instead := f.Tag.Get("deprecated"); instead != "" {
		c.Report.Warn(diag.Deprecated, e.Position, "%s is deprecated", Join(path, f.Key)).Hint = instead
	}
	c.DecodeValue(e.Value, Join(path, f.Key), f.Tag, f.Value)
}

// takesNull reports whether null means an empty mapping or list.
func takesNull(t reflect.Type) bool {
	switch t {
	case PromptRefType, TemplateType, SchemaRefType, GuardRefType, FilterRefType, AgentRefType, ModelRefType, ValueType:
		return false
	}
	return t.Kind() == reflect.Struct || t.Implements(reflect.TypeFor[Optional]())
}

// useDefault applies a default: it compiles its references and records it for
// Explain.
func (c *Decoder) useDefault(f Field, path string) {
	c.BindDefaults(f.Value, f.Tag)
	if p, ok := reflect.TypeAssert[component.PromptRef](f.Value); ok {
		c.addPrompt(PromptUse{Path: path, Value: c.BuiltIn(p.Text), References: p.References(), BuiltIn: true, Fixed: f.Tag.Get("fork") == "fixed"})
	}
	if !c.Quiet {
		c.showDefaults(f.Value, path)
	}
}

func (c *Decoder) showDefaults(v reflect.Value, path string) {
	if s := wholeDefault(v); s != "" {
		o := Origin{Path: path, Value: Brief(s), Origin: "default"}
		if o.Value != s {
			o.Whole = s
		}
		c.Defaults = append(c.Defaults, o)
		return
	}
	if v.Kind() != reflect.Struct || IsReference(v.Type()) {
		return
	}
	fields, _ := Fields([]reflect.Value{v})
	for _, f := range fields {
		c.showDefaults(f.Value, Join(path, f.Key))
	}
}

// Join returns the path of a key below a path.
func Join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// TitleOf returns the name of a path in messages. The name of the whole file is
// its title.
func (c *Decoder) TitleOf(path string) string {
	if path == "" {
		return c.Title
	}
	return path
}

// WrongType reports a value that does not have the type of its path.
func (c *Decoder) WrongType(v *syntax.Node, path, wants string) *diag.Diagnostic {
	d := c.Report.Error(diag.WrongType, v.Position, "%s must be %s, got %s", c.TitleOf(path), wants, v.Describe())
	if wants == "a boolean" && syntax.BoolWords[strings.ToLower(v.Text)] != "" {
		d.Hint = "write " + syntax.BoolWords[strings.ToLower(v.Text)]
	}
	return d
}
