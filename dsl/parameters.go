package dsl

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// question is the parameter that is always there.
const question = "question"

// maxName bounds the length of a name.
const maxName = 64

var namePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

// parameterPattern is what a parameter may be called: dots too, as in OpenSearch's
// prompt.prefix. Such a name goes before a path of the same spelling.
var parameterPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$`)

// parameters reads the declared inputs. Templates and expressions need them,
// so they come first.
func (c *compiler) parameters() {
	v := c.section("parameters", c.tree.get("parameters"))
	for _, e := range v.entries {
		if p, ok := c.parameter(e); ok {
			c.params = append(c.params, p)
		}
	}
	if !slices.ContainsFunc(c.params, func(p engine.Parameter) bool { return p.Name == question }) {
		p := engine.Parameter{Name: question, Doc: "What the agent is asked.", Required: true, Schema: []byte(`{"type":"string","description":"What the agent is asked."}`)}
		p.Check = component.SchemaRef{JSON: p.Schema}
		c.bindSchema(c.builtIn(string(p.Schema)), &p.Check)
		c.params = append([]engine.Parameter{p}, c.params...)
		c.properties[question] = map[string]any{"type": "string"}
	}
}

// section is a section of named entries; nothing when it is not written or no
// mapping.
func (c *compiler) section(path string, v *value) *value {
	switch {
	case v == nil || v.kind == null:
	case v.kind != dict:
		d := c.wrongType(v, path, "a mapping of names")
		if v.kind == list {
			d.Hint = "write each name as a key: " + path + ": " + v.asNames()
		}
	default:
		return v
	}
	return &value{kind: dict}
}

// asNames is a list as the mapping that was meant: of its texts, and of the keys
// of its mappings.
func (v *value) asNames() string {
	var names []string
	for _, it := range v.items {
		switch {
		case it.kind == text && namePattern.MatchString(it.text):
			names = append(names, it.text+": {}")
		case it.kind == dict && len(it.entries) == 1:
			names = append(names, it.entries[0].key+": {...}")
		case it.kind == dict && textAt(it, "name") != "":
			names = append(names, textAt(it, "name")+": {...}")
		}
	}
	const most = 3
	if len(names) == 0 {
		names = []string{"name: {...}"}
	} else if len(names) > most {
		names = append(names[:most], "...")
	}
	return "{" + strings.Join(names, ", ") + "}"
}

func (c *compiler) parameter(e *entry) (engine.Parameter, bool) {
	path := "parameters." + e.key
	p := engine.Parameter{Name: e.key}
	if !c.fits(e, "a parameter", parameterPattern, "names are letters, digits, _, - and single dots, and begin with a letter") {
		return p, false
	}
	if e.val.kind == null {
		*e.val = value{place: e.place, kind: dict}
	}
	if e.val.kind != dict {
		c.wrongType(e.val, path, "a JSON Schema property").Hint = "write {type: " + e.val.text + "}"
		p.Required = true // whether it may be unset nobody knows: nothing is said of it
		return p, true
	}
	p.Doc = textAt(e.val, "description")
	property := e.val.shallow()
	if r := property.get("required"); r != nil && r.kind != list {
		property.drop("required")
		if r.kind != boolean {
			c.wrongType(r, path+".required", "true or false")
		}
		p.Required = r.isTrue()
	}
	c.likelySchema(e.val, path)
	p.Schema = property.appendJSON(nil)
	p.Check = component.SchemaRef{JSON: p.Schema}
	before := len(c.report.list)
	c.bindSchema(e.val, &p.Check)
	c.properties[p.Name] = property.loose()
	if d := e.val.get("default"); d != nil {
		p.Default = d.loose()
		if c.rounded(d, "the default of "+p.Name, diag.BadDefault) {
			return p, true
		}
		if err := p.Check.Validate(d.exact()); err != nil && !c.report.failedSince(before) {
			c.report.error(diag.BadDefault, d.place, "the default of %s does not fit: %s", p.Name, strings.TrimPrefix(err.Error(), "/: "))
		}
		if p.Required {
			c.report.warn(diag.Unused, d.place, "the default of %s is never used: the parameter is required", p.Name).Hint = "remove required, or the default"
		}
	}
	c.shadowed(e)
	return p, true
}

// shallow copies a mapping, not its values.
func (v *value) shallow() *value {
	s := *v
	s.entries = slices.Clone(v.entries)
	return &s
}

// textAt is the text of a key, or "".
func textAt(v *value, key string) string {
	if x := v.get(key); x != nil && x.kind == text {
		return x.text
	}
	return ""
}

// schemaWords are the keys a parameter may have; others would do nothing.
var schemaWords = []string{
	"type", "description", "title", "default", "required", "enum", "const", "examples", "format", "pattern",
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
	"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "properties", "patternProperties",
	"additionalProperties", "propertyNames", "minProperties", "maxProperties", "dependentRequired",
	"anyOf", "allOf", "oneOf", "not", "if", "then", "else", "$ref", "$defs", "$comment", "deprecated",
	"contentEncoding", "contentMediaType", "readOnly", "writeOnly",
}

func (c *compiler) likelySchema(v *value, path string) {
	for _, e := range v.entries {
		if !slices.Contains(schemaWords, e.key) {
			c.report.error(diag.UnknownKey, e.place, "%s has no key %s", path, quoted(e.key)).
				Advice = diag.SuggestNear(e.key, schemaWords, "a parameter has the keys of a JSON Schema property, required and default")
		}
	}
}

func (c *compiler) shadowed(e *entry) {
	if e.key == question {
		return
	}
	for _, names := range engine.PromptNames {
		if slices.Contains(names, e.key) {
			c.report.warn(diag.Shadowed, e.place, "the parameter %s hides the engine's own %s in templates", e.key, e.key).Hint = "rename it, unless that is meant"
			return
		}
	}
}

// usable checks the name of an entry.
func (c *compiler) usable(e *entry, what string) bool {
	return c.fits(e, what, namePattern, "names are letters, digits, _ and -, and begin with a letter")
}

func (c *compiler) fits(e *entry, what string, pattern *regexp.Regexp, hint string) bool {
	if pattern.MatchString(e.key) && len(e.key) <= maxName {
		return true
	}
	c.report.error(diag.BadName, e.place, "%s cannot be the name of %s", quoted(e.key), what).Hint = hint
	return false
}
