package dsl

import (
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// parameters decodes the declared parameters. They come first, because templates
// and expressions need them.
func (c *compiler) parameters() {
	v := c.Section("parameters", c.tree.Get("parameters"))
	for _, e := range v.Entries {
		if p, ok := c.parameter(e); ok {
			c.Parameters = append(c.Parameters, p)
		}
	}
	if !slices.ContainsFunc(c.Parameters, func(p engine.Parameter) bool { return p.Name == language.Question }) {
		p := engine.Parameter{Name: language.Question, Doc: "The question for the agent.", Required: true, Schema: []byte(`{"type":"string","description":"The question for the agent."}`)}
		p.Check = component.SchemaRef{JSON: p.Schema}
		c.BindSchema(c.BuiltIn(string(p.Schema)), &p.Check)
		c.Parameters = append([]engine.Parameter{p}, c.Parameters...)
		c.Properties[language.Question] = map[string]any{"type": "string"}
	}
}

func (c *compiler) parameter(e *syntax.Entry) (engine.Parameter, bool) {
	path := "parameters." + e.Key
	p := engine.Parameter{Name: e.Key}
	if !c.CheckNameBy(e, "a parameter", language.ParameterPattern(), "a name starts with a letter and contains only letters, digits, _, - and single dots") {
		return p, false
	}
	if e.Value.Kind == syntax.Null {
		*e.Value = syntax.Node{Position: e.Position, Kind: syntax.Map}
	}
	if e.Value.Kind != syntax.Map {
		c.WrongType(e.Value, path, "a JSON Schema property").Hint = "write {type: " + e.Value.Text + "}"
		p.Required = true // it is unknown whether it may be unset, so this is not reported
		return p, true
	}
	p.Doc = syntax.TextOf(e.Value, "description")
	property := e.Value.Shallow()
	if r := property.Get("required"); r != nil && r.Kind != syntax.List {
		property.Drop("required")
		if r.Kind != syntax.Bool {
			c.WrongType(r, path+".required", "a boolean")
		}
		p.Required = r.Bool()
	}
	c.likelySchema(e.Value, path)
	p.Schema = property.AppendJSON(nil)
	p.Check = component.SchemaRef{JSON: p.Schema}
	before := len(c.Report.List)
	c.BindSchema(e.Value, &p.Check)
	c.Properties[p.Name] = property.Decoded()
	if d := e.Value.Get("default"); d != nil {
		p.Default = d.Decoded()
		if c.RejectRounded(d, "the default of "+p.Name, diag.BadDefault) {
			return p, true
		}
		if err := p.Check.Validate(d.JSONValue()); err != nil && !c.Report.FailedSince(before) {
			c.Report.Error(diag.BadDefault, d.Position, "the default of the parameter %q does not match its schema: %s", p.Name, strings.TrimPrefix(err.Error(), "/: "))
		}
		if p.Required {
			c.Report.Warn(diag.Unused, d.Position, "the default of the parameter %q has no effect: the parameter is required", p.Name).Hint = "remove required or the default"
		}
	}
	c.shadowed(e)
	return p, true
}

func (c *compiler) likelySchema(v *syntax.Node, path string) {
	for _, e := range v.Entries {
		if !slices.Contains(language.SchemaWords, e.Key) {
			c.Report.Error(diag.UnknownKey, e.Position, "unknown key %s in %s", syntax.Quote(e.Key), path).
				Advice = diag.SuggestNear(e.Key, language.SchemaWords, "a parameter takes required, default and the keys of a JSON Schema property")
		}
	}
}

func (c *compiler) shadowed(e *syntax.Entry) {
	if e.Key == language.Question {
		return
	}
	for _, names := range engine.PromptNames {
		if slices.Contains(names, e.Key) {
			c.Report.Warn(diag.Shadowed, e.Position, "the parameter %q shadows the built-in value of that name in templates", e.Key).Hint = "rename it, unless you intend this"
			return
		}
	}
}
