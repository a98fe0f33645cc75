package dsl

import (
	"encoding/json"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/engine"
)

// arguments checks the expressions that look at the arguments of tool calls
// against the input schemas of the tools. Expressions of a run that an earlier
// version began are left as they are: what is wrong in them decides nothing.
func (c *compiler) arguments() {
	all := make([]guard.Callee, 0, len(c.tools))
	for i := range c.tools {
		of := c.calleesOf(&c.tools[i])
		all = append(all, of...)
		entry := c.doc.Tools.get(c.tools[i].Name)
		c.misuses(entry.get("approval"), "approval", of)
		overrides := entry.get("overrides")
		if overrides == nil {
			continue
		}
		for _, o := range overrides.entries {
			c.misuses(o.val.get("approval"), "approval", calleesNamed(of, engine.MemberName(c.tools[i].Name, o.key)))
		}
	}
	if c.doc.Guards == nil || c.library() {
		return
	}
	for _, g := range c.doc.Guards.items {
		c.misuses(g.get("when"), textAt(g, "at"), all)
	}
}

// calleesNamed are the callees of a name.
func calleesNamed(all []guard.Callee, name string) []guard.Callee {
	for i := range all {
		if all[i].Name == name {
			return all[i : i+1]
		}
	}
	return nil
}

// calleesOf are the tools that an entry stands for, as far as their schemas are
// known without asking a server.
func (c *compiler) calleesOf(t *engine.ToolSpec) []guard.Callee {
	built := c.builtTools[t.Name]
	if built == nil {
		return nil
	}
	if _, many := built.(engine.Toolset); many {
		return c.pinnedCallees(t.Name)
	}
	entry := c.doc.Tools.get(t.Name)
	k := guard.Callee{
		Name: t.Name, Effect: string(t.Effect), Input: decodedSchema(built.Info().Input),
		Texts: (t.Type == "command" || t.Type == "http") && entry.get("input_schema") == nil,
	}
	for _, f := range t.With {
		k.Fixed = append(k.Fixed, f.Name)
	}
	return []guard.Callee{k}
}

// pinnedCallees are the tools of a server as they are pinned.
func (c *compiler) pinnedCallees(server string) (out []guard.Callee) {
	if len(c.loader.chain) == 0 {
		return nil
	}
	pinned := c.loader.pinOf(c.file(), server)
	if pinned == nil {
		return nil
	}
	for _, d := range pinned.Tools {
		k := guard.Callee{Name: engine.MemberName(server, d.Name), Input: decodedSchema(d.Input)}
		with := c.doc.Tools.get(server).get("overrides").get(d.Name).get("with")
		if with != nil {
			for _, e := range with.entries {
				k.Fixed = append(k.Fixed, e.key)
			}
		}
		out = append(out, k)
	}
	return out
}

// misuses reports what is wrong with the uses of arguments in an expression.
func (c *compiler) misuses(v *value, place string, tools []guard.Callee) {
	if v == nil || v.kind != text || v.kept() || len(tools) == 0 {
		return
	}
	env, ok := c.guardEnv(place)
	if !ok {
		return
	}
	properties := map[string]guard.Range{}
	for i := range c.params {
		p := &c.params[i]
		if properties[p.Name] = guard.Fits(c.properties[p.Name]); !p.Required && p.Default == nil {
			properties[p.Name] = properties[p.Name].Or(guard.Nothing())
		}
	}
	b := guard.Bounds{}
	if !c.library() && !c.free {
		b["parameters"] = guard.Object(properties)
	}
	for _, m := range guard.Misuses(v.text, env, b, tools) {
		if m.Maybe {
			c.report.warn(diag.OptionalName, v.within(m.Offset), "%s", m.Message).Hint = m.Hint
			continue
		}
		c.report.error(diag.BadExpression, v.within(m.Offset), "%s", m.Message).Hint = m.Hint
	}
}

// decodedSchema is a schema as a value; nil = it is none.
func decodedSchema(schema json.RawMessage) (v any) {
	if json.Unmarshal(schema, &v) != nil {
		return nil
	}
	return v
}
