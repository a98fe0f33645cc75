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

// parameters reads the declared inputs. Templates and expressions need them,
// so they come first.
func (c *compiler) parameters() {
	v := c.Section("parameters", c.tree.Get("parameters"))
	for _, e := range v.Entries {
		if p, ok := c.parameter(e); ok {
			c.Parameters = append(c.Parameters, p)
		}
	}
	if !slices.ContainsFunc(c.Parameters, func(p engine.Parameter) bool { return p.Name == language.Question }) {
		p := engine.Parameter{Name: language.Question, Doc: "What the agent is asked.", Required: true, Schema: []byte(`{"type":"string","description":"What the agent is asked."}`)}
		p.Check = component.SchemaRef{JSON: p.Schema}
		c.BindSchema(c.BuiltIn(string(p.Schema)), &p.Check)
		c.Parameters = append([]engine.Parameter{p}, c.Parameters...)
		c.Properties[language.Question] = map[string]any{"type": "string"}
	}
}

func (c *compiler) parameter(e *syntax.Entry) (engine.Parameter, bool) {
	path := "parameters." + e.Key
	p := engine.Parameter{Name: e.Key}
	if !c.CheckNameBy(e, "a parameter", language.ParameterPattern, "names are letters, digits, _, - and single dots, and begin with a letter") {
		return p, false
	}
	if e.Value.Kind == syntax.Null {
		*e.Value = syntax.Node{Position: e.Position, Kind: syntax.Map}
	}
	if e.Value.Kind != syntax.Map {
		c.WrongType(e.Value, path, "a JSON Schema property").Hint = "write {type: " + e.Value.Text + "}"
		p.Required = true // whether it may be unset nobody knows: nothing is said of it
		return p, true
	}
	p.Doc = syntax.TextOf(e.Value, "description")
	property := e.Value.Shallow()
	if r := property.Get("required"); r != nil && r.Kind != syntax.List {
		property.Drop("required")
		if r.Kind != syntax.Bool {
			c.WrongType(r, path+".required", "true or false")
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
			c.Report.Error(diag.BadDefault, d.Position, "the default of %s does not fit: %s", p.Name, strings.TrimPrefix(err.Error(), "/: "))
		}
		if p.Required {
			c.Report.Warn(diag.Unused, d.Position, "the default of %s is never used: the parameter is required", p.Name).Hint = "remove required, or the default"
		}
	}
	c.shadowed(e)
	return p, true
}

func (c *compiler) likelySchema(v *syntax.Node, path string) {
	for _, e := range v.Entries {
		if !slices.Contains(language.SchemaWords, e.Key) {
			c.Report.Error(diag.UnknownKey, e.Position, "%s has no key %s", path, syntax.Quote(e.Key)).
				Advice = diag.SuggestNear(e.Key, language.SchemaWords, "a parameter has the keys of a JSON Schema property, required and default")
		}
	}
}

func (c *compiler) shadowed(e *syntax.Entry) {
	if e.Key == language.Question {
		return
	}
	for _, names := range engine.PromptNames {
		if slices.Contains(names, e.Key) {
			c.Report.Warn(diag.Shadowed, e.Position, "the parameter %s hides the engine's own %s in templates", e.Key, e.Key).Hint = "rename it, unless that is meant"
			return
		}
	}
}
