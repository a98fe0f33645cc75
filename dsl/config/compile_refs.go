package config

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/jsonpath"
	"github.com/pexctl/pex/dsl/prompt"
	"github.com/pexctl/pex/dsl/schema"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/text"
)

// template compiles a text with the namespaces of its tag and reports mistakes at
// their positions. It never returns nil.
func (c *Decoder) template(v *syntax.Node, tag reflect.StructTag) *prompt.Template {
	return c.templateOf(v, c.scope(tag.Get("vars")))
}

// templateOf is like template, with known options.
func (c *Decoder) templateOf(v *syntax.Node, o prompt.Options) *prompt.Template {
	o.Source = v.Position.String()
	t, problems := prompt.Parse(v.Text, o)
	c.recordParameters(t.Names())
	for _, p := range problems {
		code, severity := templateCode(p)
		d := c.Report.Add(code, severity, v.PositionAt(p.Offset), "%s", p.Message)
		if d.Advice = p.Advice; p.Code == prompt.UnknownName {
			c.explainName(d, v.Text[p.Offset:p.Offset+p.Length])
		}
	}
	if len(problems) == 0 {
		c.warnCutByComment(v, "text")
		c.warnUnknownColumns(v, t.Names())
	}
	return t
}

var (
	referredName = text.Regexp(`parameters\s*\.\s*(\w+)`)
	referredCase = text.Regexp(`^\$[{<]\s*case\s*\.`)
)

// explainName completes the diagnostic of an unknown name: for a column it lists the
// columns, for a name that only other templates have, these templates.
func (c *Decoder) explainName(d *diag.Diagnostic, ref string) {
	if c.Columns != nil && referredCase().MatchString(ref) {
		c.Columns.explain(d)
		return
	}
	m := referredName().FindStringSubmatch(ref)
	if m == nil {
		return
	}
	var in []string
	for template, names := range engine.PromptNames {
		if slices.Contains(names, m[1]) {
			in = append(in, template)
		}
	}
	if len(in) == 0 {
		return
	}
	slices.Sort(in)
	d.Advice = diag.Advice{Hint: "it is not available in this template, only in these: " + strings.Join(in, ", ")}
}

func templateCode(p prompt.Problem) (diag.Code, diag.Severity) {
	severity := diag.Error
	if p.Severity == prompt.Warning {
		severity = diag.Warning
	}
	switch p.Code {
	case prompt.UnknownName, prompt.NoField:
		return diag.UnknownName, severity
	case prompt.OptionalName:
		return diag.OptionalName, severity
	case prompt.NearMiss:
		return diag.NearMiss, severity
	}
	return diag.BadTemplate, severity
}

// scope parses a vars tag: namespaces and, after @, a template whose engine names
// also belong to the namespace parameters.
func (c *Decoder) scope(vars string) prompt.Options {
	var o prompt.Options
	var own []string
	for _, w := range strings.FieldsFunc(vars, func(r rune) bool { return r == ',' || r == ' ' }) {
		if name, ok := strings.CutPrefix(w, "@"); ok {
			own = append(own, engine.PromptNames[name]...)
			w = "parameters"
		}
		if !slices.Contains(o.Namespaces, w) {
			o.Namespaces = append(o.Namespaces, w)
		}
	}
	if vars == "" {
		o.Namespaces = []string{"parameters"}
	}
	if !c.Language.Library() {
		o.Known = func(ns, name string) prompt.Knowledge { return c.knowledge(ns, name, own) }
	}
	return o
}

// engineText is the schema of each engine name.
var engineText = map[string]any{"type": "string"}

// knowledge returns what is known about a name of a template at compile time.
func (c *Decoder) knowledge(ns, name string, own []string) prompt.Knowledge {
	if ns == "case" && c.Columns != nil {
		return c.Columns.knowledge(name)
	}
	if ns != "parameters" || c.AnyParameter {
		return prompt.Knowledge{Declared: true}
	}
	names := make([]string, 0, len(c.Parameters)+len(own))
	for i := range c.Parameters {
		p := &c.Parameters[i]
		if p.Name == name {
			c.Used["parameters."+name] = true
			return prompt.Knowledge{Declared: true, Optional: !p.Required && p.Default == nil, Schema: c.Properties[name]}
		}
		names = append(names, p.Name)
	}
	return prompt.Knowledge{Declared: slices.Contains(own, name), Names: append(names, own...), Schema: engineText}
}

// guardRef compiles an expression in the environment of its tag.
func (c *Decoder) guardRef(v *syntax.Node, tag reflect.StructTag, g *component.GuardRef) {
	g.Source = v.Text
	if slices.Contains(Words(tag.Get("words")), v.Text) {
		return
	}
	env, ok := c.environment(tag.Get("env"))
	if !ok {
		return
	}
	c.CompileExpression(v, env, Words(tag.Get("words")), g)
}

// CompileExpression compiles and binds an expression in an environment and
// reports mistakes. alternatives are words that are allowed instead of an
// expression.
func (c *Decoder) CompileExpression(v *syntax.Node, env guard.Env, alternatives []string, g *component.GuardRef) {
	compiled, p := guard.Compile(v.Text, env)
	if p == nil {
		g.Bind(compiled.Eval)
		c.warnCutByComment(v, "expression")
		c.recordExpression(v.Text)
		return
	}
	d := c.Report.Error(diag.BadExpression, v.PositionAt(p.Offset), "%s", p.Message)
	d.Advice = p.Advice
	switch near := diag.Nearest(v.Text, alternatives); {
	case strings.HasPrefix(v.Comment, "#") && v.Style == syntax.Plain:
		d.Advice = diag.Advice{Hint: "YAML reads everything after # as a comment; quote the expression"}
	case near != "":
		d.Advice = diag.DidYouMean(v.Text, near, "")
	}
}

// recordParameters records the parameters that a template refers to. Those with a
// default after :- are included, and need no declaration.
func (c *Decoder) recordParameters(names []string) {
	for _, name := range names {
		for i := range c.Parameters {
			own := "parameters." + c.Parameters[i].Name
			if name == own || strings.HasPrefix(name, own+".") || strings.HasPrefix(name, own+"[") {
				c.Used[own] = true
			}
		}
	}
}

// recordExpression records the parameters that an expression reads.
func (c *Decoder) recordExpression(source string) {
	names, all := guard.Names(source, "parameters")
	for _, name := range names {
		c.Used["parameters."+name] = true
	}
	if all {
		c.Used["parameters"] = true
	}
}

// environment parses an env tag: the name of a place, or declarations.
func (c *Decoder) environment(tag string) (guard.Env, bool) {
	if place, ok := strings.CutPrefix(tag, "@"); ok {
		return c.GuardEnv(place)
	}
	env, err := guard.Declared(tag)
	if err != nil {
		panic("the env tag " + tag + " cannot be read: " + err.Error())
	}
	return env, true
}

// GuardEnv returns the environment of a place, with the spec's parameters.
func (c *Decoder) GuardEnv(place string) (guard.Env, bool) {
	if other, ok := c.GuardPlaces[place]; ok {
		place = other
	}
	if env, ok := c.envs[place]; ok {
		return env, true
	}
	var properties map[string]any
	if !c.Language.Library() && !c.AnyParameter {
		properties = c.Properties
	}
	env, ok := guard.Place(place, properties)
	if ok {
		if place == "checks" && c.Columns != nil && !c.Columns.None {
			env = env.With("case", c.Columns.schema())
		}
		c.envs[place] = env
	}
	return env, ok
}

// BindSchema compiles a schema and reports mistakes.
func (c *Decoder) BindSchema(v *syntax.Node, s *component.SchemaRef) {
	compiled, err := schema.Compile(s.JSON)
	var problems schema.Problems
	switch {
	case errors.As(err, &problems):
		for _, p := range problems {
			c.Report.Error(diag.BadSchema, v.PointedAt(p.Path), "%s", p.Message).Hint = p.Hint
		}
	case err != nil:
		c.Report.Error(diag.BadSchema, v.Position, "%s", err)
	default:
		s.Bind(compiled)
	}
}

// filterRef compiles a JSONPath.
func (c *Decoder) filterRef(v *syntax.Node, f *component.FilterRef) {
	f.Source = v.Text
	compiled, err := jsonpath.Compile(v.Text)
	var p *jsonpath.Problem
	switch {
	case errors.As(err, &p):
		c.Report.Error(diag.BadPath, v.PositionAt(p.Offset), "%s", p.Message).Hint = p.Hint
	case err != nil:
		c.Report.Error(diag.BadPath, v.Position, "%s", err)
	default:
		f.Bind(compiled.Select)
	}
}

// warnCutByComment warns if a # without a space after it ends a plain scalar, because
// it may be intended as part of the text.
func (c *Decoder) warnCutByComment(v *syntax.Node, what string) {
	if v.Style != syntax.Plain || len(v.Comment) < 2 || v.Comment[0] != '#' || v.Comment[1] == ' ' || v.Source.Kind == syntax.Resolved {
		return
	}
	c.Report.Warn(diag.CutByComment, v.PositionAt(len(v.Text)), "the %s is cut off before %s, which YAML reads as a comment", what, syntax.Quote(v.Comment)).
		Hint = "quote the " + what + " if the # is part of it; otherwise write a space after the #"
}
