package dsl

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
)

// decode fills structs that stand at one level from a mapping, strictly: a key
// that none of them has is reported. References in them are compiled on the
// way, those of defaults too. path is the YAML path, for messages and origins.
func (c *compiler) decode(v *syntax.Node, path string, into ...any) {
	targets := make([]reflect.Value, len(into))
	for i, p := range into {
		targets[i] = target(p)
	}
	c.fields(v, path, targets...)
}

func (c *compiler) fields(v *syntax.Node, path string, targets ...reflect.Value) {
	if v.Kind == syntax.Null {
		*v = syntax.Node{Position: v.Position, Kind: syntax.Map}
	}
	if v.Kind != syntax.Map {
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
		case v.Find(f.key) == nil && slices.Contains(meant, f.key): // a key that was told of stands for it
			c.unwritten(f, join(path, f.key))
		default:
			c.field(v, f, path)
		}
	}
	if m := modelField(fields); m != nil {
		c.modelRef(v, *m, overrides, path)
	}
	slices.SortStableFunc(v.Entries, func(a, b *syntax.Entry) int { return order(fields, a.Key) - order(fields, b.Key) })
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
func (c *compiler) known(v *syntax.Node, path string, fields []field, rest reflect.Value) (overrides *syntax.Node, meant []string) {
	overrides = &syntax.Node{Position: v.Position, Kind: syntax.Map}
	model := modelField(fields)
	var left []*syntax.Entry
	for _, e := range v.Entries {
		switch {
		case order(fields, e.Key) < len(fields):
		case model != nil && slices.Contains(llmKeys, e.Key):
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
	all := keysOf(fields)
	if model != nil {
		all = append(all, llmKeys...)
	}
	for _, e := range left {
		advice := c.keyAdvice(e, path, all)
		c.report.Error(diag.UnknownKey, e.Position, "%s has no key %s", c.called(path), syntax.Quote(e.Key)).Advice = advice
		if advice.Fix.New != "" {
			meant = append(meant, advice.Fix.New)
		}
	}
	return overrides, meant
}

// keyAdvice suggests a key: one nearly of that name, or the place where this one
// belongs.
func (c *compiler) keyAdvice(e *syntax.Entry, path string, all []string) diag.Advice {
	key := e.Key
	if path == "" && (key == "llm" || key == "model") && e.Value.Kind == syntax.Text {
		if llm := modelEntry(e.Value.Text, c.loader.options.Catalog.Models.Types()); llm != "" {
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

func (c *compiler) leftOver(left []*syntax.Entry, path string, rest reflect.Value) {
	if rest.IsNil() {
		rest.Set(reflect.MakeMap(rest.Type()))
	}
	for _, e := range left {
		elem := reflect.New(rest.Type().Elem()).Elem()
		c.value(e.Value, join(path, e.Key), "", elem)
		rest.SetMapIndex(reflect.ValueOf(e.Key), elem)
	}
}

// field decodes one key, or binds its default when it is not written.
func (c *compiler) field(v *syntax.Node, f field, path string) {
	e := v.Find(f.key)
	if e == nil || e.Value.Kind == syntax.Null && !takesNull(f.value.Type()) {
		if f.tag.Get("required") != "" {
			at := v.Position
			if e != nil {
				at = e.Position
			}
			report := c.report.Error
			if f.tag.Get("required") == "vet" && !c.loader.options.vetting {
				report = c.report.Warn
			}
			report(diag.MissingKey, at, "%s has no %s", c.called(path), f.key).Hint = cmp.Or(f.tag.Get("missing"), f.tag.Get("doc"))
		}
		c.unwritten(f, join(path, f.key))
		return
	}
	if instead := f.tag.Get("deprecated"); instead != "" {
		c.report.Warn(diag.Deprecated, e.Position, "%s is deprecated", join(path, f.key)).Hint = instead
	}
	c.value(e.Value, join(path, f.key), f.tag, f.value)
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

func (c *compiler) wrongType(v *syntax.Node, path, wants string) *diag.Diagnostic {
	d := c.report.Error(diag.WrongType, v.Position, "%s wants %s, not %s", c.called(path), wants, v.Describe())
	if strings.HasPrefix(wants, "true") && syntax.BoolWords[strings.ToLower(v.Text)] != "" {
		d.Hint = "write " + syntax.BoolWords[strings.ToLower(v.Text)]
	}
	return d
}
