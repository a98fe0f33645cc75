package dsl

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
)

// decode fills structs that stand at one level from a mapping, strictly: a key
// that none of them has is reported. References in them are compiled on the
// way, those of defaults too. path is the YAML path, for messages and origins.
func (c *compiler) decode(v *value, path string, into ...any) {
	targets := make([]reflect.Value, len(into))
	for i, p := range into {
		targets[i] = target(p)
	}
	c.fields(v, path, targets...)
}

func (c *compiler) fields(v *value, path string, targets ...reflect.Value) {
	if v.kind == null {
		*v = value{place: v.place, kind: dict}
	}
	if v.kind != dict {
		c.wrongType(v, path, "a mapping")
		return
	}
	fields, rest := fieldsOf(targets)
	c.inlineFiles(v, path, fields)
	overrides, meant := c.known(v, path, fields, rest)
	c.whichTold = c.whichTold || path == "" && slices.Contains(meant, "llms") // which llm a role uses cannot be told
	for _, f := range fields {
		switch {
		case f.value.Type() == modelRefType:
		case v.find(f.key) == nil && slices.Contains(meant, f.key): // a key that was told of stands for it
			c.unwritten(f, join(path, f.key))
		default:
			c.field(v, f, path)
		}
	}
	if m := modelField(fields); m != nil {
		c.modelRef(v, *m, overrides, path)
	}
	slices.SortStableFunc(v.entries, func(a, b *entry) int { return order(fields, a.key) - order(fields, b.key) })
}

// order is where a key stands in the canonical form; unknown ones come last.
func order(fields []field, key string) int {
	for _, f := range fields {
		if f.key == key {
			return f.order
		}
	}
	return len(fields)
}

// known reports the keys that no field takes, with the fields that they are taken
// for, and returns those that override the llm named beside them.
func (c *compiler) known(v *value, path string, fields []field, rest reflect.Value) (overrides *value, meant []string) {
	overrides = &value{place: v.place, kind: dict}
	model := modelField(fields)
	var left []*entry
	for _, e := range v.entries {
		switch {
		case order(fields, e.key) < len(fields):
		case model != nil && slices.Contains(llmKeys, e.key):
			if e.val.kind != null {
				overrides.entries = append(overrides.entries, e)
			}
		default:
			left = append(left, e)
		}
	}
	if rest.IsValid() {
		c.leftOver(left, path, rest)
		return overrides, nil
	}
	all := keysOf(fields)
	if model != nil {
		all = append(all, llmKeys...)
	}
	for _, e := range left {
		advice := c.keyAdvice(e, path, all)
		c.report.error(diag.UnknownKey, e.place, "%s has no key %s", c.called(path), quoted(e.key)).Advice = advice
		if advice.Fix.New != "" {
			meant = append(meant, advice.Fix.New)
		}
	}
	return overrides, meant
}

// keyAdvice suggests a key: one nearly of that name, or the place where this one
// belongs.
func (c *compiler) keyAdvice(e *entry, path string, all []string) diag.Advice {
	key := e.key
	if path == "" && (key == "llm" || key == "model") && e.val.kind == text {
		if llm := modelEntry(e.val.text, c.loader.options.Catalog.Models.Types()); llm != "" {
			return diag.DidYouMean(key, "llms", "write llms: {main: "+llm+"}")
		}
	}
	if other := keyOfSection(key, path, all); other != "" {
		return diag.DidYouMean(key, other, "")
	}
	if advice := instead(key, all); advice.Hint != "" {
		return advice
	}
	if strings.HasSuffix(path, ".options") && slices.Contains(llmKeys, key) && !slices.Contains(all, key) {
		return diag.Advice{Hint: key + " stands beside options, not in it"}
	}
	if ofComponent(path) || path == "" && diag.Nearest(key, all) != "" {
		return diag.Suggest(key, all)
	}
	if role := c.roleWith(key); role != "" && role != path && (path == "" || slices.Contains(roles, path)) {
		return diag.Advice{Hint: key + " belongs under " + role}
	}
	for _, home := range c.homes() {
		switch {
		case !slices.Contains(home.keys, key) || home.path == path:
		case home.path == "":
			return diag.Advice{Hint: key + " belongs at the top of the file"}
		default:
			return diag.Advice{Hint: key + " belongs under " + home.path}
		}
	}
	return diag.Suggest(key, all)
}

func (c *compiler) leftOver(left []*entry, path string, rest reflect.Value) {
	if rest.IsNil() {
		rest.Set(reflect.MakeMap(rest.Type()))
	}
	for _, e := range left {
		elem := reflect.New(rest.Type().Elem()).Elem()
		c.value(e.val, join(path, e.key), "", elem)
		rest.SetMapIndex(reflect.ValueOf(e.key), elem)
	}
}

// field decodes one key, or binds its default when it is not written.
func (c *compiler) field(v *value, f field, path string) {
	e := v.find(f.key)
	if e == nil || e.val.kind == null && !takesNull(f.value.Type()) {
		if f.tag.Get("required") != "" {
			at := v.place
			if e != nil {
				at = e.place
			}
			report := c.report.error
			if f.tag.Get("required") == "vet" && !c.loader.options.vetting {
				report = c.report.warn
			}
			report(diag.MissingKey, at, "%s has no %s", c.called(path), f.key).Hint = cmp.Or(f.tag.Get("missing"), f.tag.Get("doc"))
		}
		c.unwritten(f, join(path, f.key))
		return
	}
	if instead := f.tag.Get("deprecated"); instead != "" {
		c.report.warn(diag.Deprecated, e.place, "%s is deprecated", join(path, f.key)).Hint = instead
	}
	c.value(e.val, join(path, f.key), f.tag, f.value)
}

// takesNull says whether a null means an empty mapping or list.
func takesNull(t reflect.Type) bool {
	switch t {
	case promptRefType, templateType, schemaRefType, guardRefType, filterRefType, agentRefType, modelRefType, valueType:
		return false
	}
	return t.Kind() == reflect.Struct || t.Implements(reflect.TypeFor[optional]())
}

// unwritten keeps a default: its references are compiled, and Explain shows it.
func (c *compiler) unwritten(f field, path string) {
	c.bindDefaults(f.value, f.tag)
	if !c.quiet {
		c.showDefaults(f.value, path)
	}
}

func (c *compiler) showDefaults(v reflect.Value, path string) {
	if s := wholeDefault(v); s != "" {
		o := Origin{Path: path, Value: brief(s), Origin: "default"}
		if o.Value != s {
			o.Whole = s
		}
		c.defaults = append(c.defaults, o)
		return
	}
	if v.Kind() != reflect.Struct || knownByName(v.Type()) {
		return
	}
	fields, _ := fieldsOf([]reflect.Value{v})
	for _, f := range fields {
		c.showDefaults(f.value, join(path, f.key))
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func (c *compiler) called(path string) string {
	if path == "" {
		return c.what
	}
	return path
}

func (c *compiler) wrongType(v *value, path, wants string) *diag.Diagnostic {
	d := c.report.error(diag.WrongType, v.place, "%s wants %s, not %s", c.called(path), wants, v.describe())
	if strings.HasPrefix(wants, "true") && boolWords[strings.ToLower(v.text)] != "" {
		d.Hint = "write " + boolWords[strings.ToLower(v.text)]
	}
	return d
}
