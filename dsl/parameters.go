package dsl

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
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
	v := c.section("parameters", c.tree.Get("parameters"))
	for _, e := range v.Entries {
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
func (c *compiler) section(path string, v *syntax.Node) *syntax.Node {
	switch {
	case v == nil || v.Kind == syntax.Null:
	case v.Kind != syntax.Map:
		d := c.wrongType(v, path, "a mapping of names")
		if v.Kind == syntax.List {
			d.Hint = "write each name as a key: " + path + ": " + asNames(v)
		}
	default:
		return v
	}
	return &syntax.Node{Kind: syntax.Map}
}

// asNames is a list as the mapping that was meant: of its texts, and of the keys
// of its mappings.
func asNames(v *syntax.Node) string {
	var names []string
	for _, it := range v.Items {
		switch {
		case it.Kind == syntax.Text && namePattern.MatchString(it.Text):
			names = append(names, it.Text+": {}")
		case it.Kind == syntax.Map && len(it.Entries) == 1:
			names = append(names, it.Entries[0].Key+": {...}")
		case it.Kind == syntax.Map && syntax.TextOf(it, "name") != "":
			names = append(names, syntax.TextOf(it, "name")+": {...}")
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

func (c *compiler) parameter(e *syntax.Entry) (engine.Parameter, bool) {
	path := "parameters." + e.Key
	p := engine.Parameter{Name: e.Key}
	if !c.fits(e, "a parameter", parameterPattern, "names are letters, digits, _, - and single dots, and begin with a letter") {
		return p, false
	}
	if e.Value.Kind == syntax.Null {
		*e.Value = syntax.Node{Position: e.Position, Kind: syntax.Map}
	}
	if e.Value.Kind != syntax.Map {
		c.wrongType(e.Value, path, "a JSON Schema property").Hint = "write {type: " + e.Value.Text + "}"
		p.Required = true // whether it may be unset nobody knows: nothing is said of it
		return p, true
	}
	p.Doc = syntax.TextOf(e.Value, "description")
	property := e.Value.Shallow()
	if r := property.Get("required"); r != nil && r.Kind != syntax.List {
		property.Drop("required")
		if r.Kind != syntax.Bool {
			c.wrongType(r, path+".required", "true or false")
		}
		p.Required = r.Bool()
	}
	c.likelySchema(e.Value, path)
	p.Schema = property.AppendJSON(nil)
	p.Check = component.SchemaRef{JSON: p.Schema}
	before := len(c.report.List)
	c.bindSchema(e.Value, &p.Check)
	c.properties[p.Name] = property.Decoded()
	if d := e.Value.Get("default"); d != nil {
		p.Default = d.Decoded()
		if c.rounded(d, "the default of "+p.Name, diag.BadDefault) {
			return p, true
		}
		if err := p.Check.Validate(d.JSONValue()); err != nil && !c.report.FailedSince(before) {
			c.report.Error(diag.BadDefault, d.Position, "the default of %s does not fit: %s", p.Name, strings.TrimPrefix(err.Error(), "/: "))
		}
		if p.Required {
			c.report.Warn(diag.Unused, d.Position, "the default of %s is never used: the parameter is required", p.Name).Hint = "remove required, or the default"
		}
	}
	c.shadowed(e)
	return p, true
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

func (c *compiler) likelySchema(v *syntax.Node, path string) {
	for _, e := range v.Entries {
		if !slices.Contains(schemaWords, e.Key) {
			c.report.Error(diag.UnknownKey, e.Position, "%s has no key %s", path, syntax.Quote(e.Key)).
				Advice = diag.SuggestNear(e.Key, schemaWords, "a parameter has the keys of a JSON Schema property, required and default")
		}
	}
}

func (c *compiler) shadowed(e *syntax.Entry) {
	if e.Key == question {
		return
	}
	for _, names := range engine.PromptNames {
		if slices.Contains(names, e.Key) {
			c.report.Warn(diag.Shadowed, e.Position, "the parameter %s hides the engine's own %s in templates", e.Key, e.Key).Hint = "rename it, unless that is meant"
			return
		}
	}
}

// usable checks the name of an entry.
func (c *compiler) usable(e *syntax.Entry, what string) bool {
	return c.fits(e, what, namePattern, "names are letters, digits, _ and -, and begin with a letter")
}

func (c *compiler) fits(e *syntax.Entry, what string, pattern *regexp.Regexp, hint string) bool {
	if pattern.MatchString(e.Key) && len(e.Key) <= maxName {
		return true
	}
	c.report.Error(diag.BadName, e.Position, "%s cannot be the name of %s", syntax.Quote(e.Key), what).Hint = hint
	return false
}
