package dsl

import (
	"encoding/json"
	"slices"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/guard/interval"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine/tool"
)

// arguments checks the expressions that look at the arguments of tool calls
// against the input schemas of the tools. Expressions of a run that an earlier
// version began are left as they are: what is wrong in them decides nothing.
func (c *compiler) arguments() {
	all := make([]guard.Tool, 0, len(c.tools))
	for i := range c.tools {
		of := c.calleesOf(&c.tools[i])
		all = append(all, of...)
		entry := c.doc.Tools.Get(c.tools[i].Name)
		c.misuses(entry.Get("approval"), "approval", of)
		overrides := entry.Get("overrides")
		if overrides == nil {
			continue
		}
		for _, o := range overrides.Entries {
			c.misuses(o.Value.Get("approval"), "approval", calleesNamed(of, tool.MemberName(c.tools[i].Name, o.Key)))
		}
	}
	c.callees = all
	if c.doc.Guards == nil || c.Library() {
		return
	}
	for _, g := range c.doc.Guards.Items {
		c.misuses(g.Get("when"), syntax.TextOf(g, "at"), all)
	}
}

// calleesNamed are the callees of a name.
func calleesNamed(all []guard.Tool, name string) []guard.Tool {
	for i := range all {
		if all[i].Name == name {
			return all[i : i+1]
		}
	}
	return nil
}

// calleesOf are the tools that an entry stands for, as far as their schemas are
// known without asking a server.
func (c *compiler) calleesOf(t *tool.Spec) []guard.Tool {
	built := c.builtTools[t.Name]
	if built == nil {
		return nil
	}
	if _, many := built.(tool.Toolset); many {
		return c.pinnedCallees(t.Name)
	}
	entry := c.doc.Tools.Get(t.Name)
	k := guard.Tool{
		Name: t.Name, Effect: string(t.Effect), Input: decodedSchema(built.Info().Input),
		Texts: (t.Type == "command" || t.Type == "http") && entry.Get("input_schema") == nil,
	}
	for _, f := range t.With {
		k.Fixed = append(k.Fixed, f.Name)
	}
	return []guard.Tool{k}
}

// pinnedCallees are the tools of a server as they are pinned.
func (c *compiler) pinnedCallees(server string) (out []guard.Tool) {
	if len(c.loader.chain) == 0 {
		return nil
	}
	pinned := c.loader.pinOf(c.file(), server)
	if pinned == nil {
		return []guard.Tool{{Name: server, Server: true}}
	}
	for _, d := range pinned.Tools {
		k := guard.Tool{Name: tool.MemberName(server, d.Name), Input: decodedSchema(d.Input)}
		with := c.doc.Tools.Get(server).Get("overrides").Get(d.Name).Get("with")
		if with != nil {
			for _, e := range with.Entries {
				k.Fixed = append(k.Fixed, e.Key)
			}
		}
		out = append(out, k)
	}
	return out
}

// misuses reports what is wrong with the uses of arguments in an expression.
func (c *compiler) misuses(v *syntax.Node, place string, tools []guard.Tool) {
	if v == nil || v.Kind != syntax.Text || v.IsResolved() || len(tools) == 0 {
		return
	}
	env, ok := c.GuardEnv(place)
	if !ok {
		return
	}
	properties := map[string]interval.Range{}
	for i := range c.Parameters {
		p := &c.Parameters[i]
		if properties[p.Name] = interval.OfSchema(c.Properties[p.Name]); !p.Required && p.Default == nil {
			properties[p.Name] = properties[p.Name].Or(interval.Nothing())
		}
	}
	b := interval.Bounds{}
	if !c.Library() && !c.AnyParameter {
		b["parameters"] = interval.Object(properties)
	}
	c.tell(v, interval.Misuses(v.Text, env, b, tools), c.locked)
}

// tell reports misuses in an expression. spec is the one whose project pins the
// servers.
func (c *compiler) tell(v *syntax.Node, misuses []interval.Misuse, spec func() string) {
	for _, m := range misuses {
		at := v.PositionAt(m.Offset)
		switch {
		case m.Server != "":
			c.untyped(at, m.Server, spec)
		case m.Maybe:
			c.Report.Warn(diag.OptionalName, at, "%s", m.Message).Advice = m.Advice
		default:
			c.Report.Error(diag.BadExpression, at, "%s", m.Message).Advice = m.Advice
		}
	}
}

// untyped warns, once for a server, that expressions about arguments of its tools
// are not checked. In a project with a lock checkPins says that it is not pinned.
func (c *compiler) untyped(at syntax.Position, server string, spec func() string) {
	l := c.loader
	if l.options.Pins == nil || l.pins() != nil || l.untyped[server] {
		return
	}
	if l.untyped == nil {
		l.untyped = map[string]bool{}
	}
	l.untyped[server] = true
	c.Report.Warn(diag.Unpinned, at, "nothing is pinned of the server %s, so the arguments of its tools are not checked here", server).
		Hint = "pexctl tools lock " + l.Files.Shown(spec()) + " pins what it has now"
}

// tracedArguments checks what an expression says of the arguments of calls in a trace
// against the tools of the specs that the trace may be of. What is wrong for some
// of them only may be meant for the others.
func (c *compiler) tracedArguments(v *syntax.Node, place string) {
	if v == nil || v.Kind != syntax.Text || len(c.against) == 0 {
		return
	}
	env, ok := c.GuardEnv(place)
	if !ok {
		return
	}
	var wrong []interval.Misuse
	for i, s := range c.against {
		found := interval.Misuses(v.Text, env, interval.Bounds{}, s.allCallees())
		if i == 0 {
			wrong = found
		}
		wrong = slices.DeleteFunc(wrong, func(m interval.Misuse) bool {
			return !slices.ContainsFunc(found, func(n interval.Misuse) bool { return n.Offset == m.Offset && n.Server == m.Server })
		})
	}
	c.tell(v, wrong, func() string { return c.against[0].Path() })
}

// allCallees are the tools of a spec and of the agents within it.
func (s *Spec) allCallees() []guard.Tool {
	out := slices.Clip(s.callees)
	for _, a := range s.agents {
		out = append(out, a.allCallees()...)
	}
	return out
}

// Callees are the tools of the spec as its expressions know them.
func (s *Spec) Callees() []guard.Tool { return slices.Clone(s.callees) }

// decodedSchema is a schema as a value; nil = it is none.
func decodedSchema(schema json.RawMessage) (v any) {
	if json.Unmarshal(schema, &v) != nil {
		return nil
	}
	return v
}
