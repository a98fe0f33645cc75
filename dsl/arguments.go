package dsl

import (
	"encoding/json"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/guard/interval"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine/tool"
)

// arguments checks expressions that read the arguments of tool calls against the
// input schemas of the tools. It skips specs of runs that an earlier version
// started, in which a wrong expression already has no effect.
func (c *compiler) arguments() {
	all := make([]guard.Tool, 0, len(c.tools))
	for i := range c.tools {
		of := c.calleesOf(&c.tools[i])
		all = append(all, of...)
		entry := c.doc.Tools.Get(c.tools[i].Name)
		c.checkMisuses(entry.Get("approval"), "approval", of)
		c.checkMisuses(entry.Get("approvers"), "approvers", of)
		overrides := entry.Get("overrides")
		if overrides == nil {
			continue
		}
		for _, o := range overrides.Entries {
			named := testspec.CalleesNamed(of, tool.MemberName(c.tools[i].Name, o.Key))
			c.checkMisuses(o.Value.Get("approval"), "approval", named)
			c.checkMisuses(o.Value.Get("approvers"), "approvers", named)
		}
	}
	c.callees = all
	if c.doc.Guards == nil || c.Library() {
		return
	}
	for _, g := range c.doc.Guards.Items {
		c.checkMisuses(g.Get("when"), syntax.TextOf(g, "at"), all)
	}
}

// calleesOf returns the tools of an entry whose schemas are known without
// connecting to a server.
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

// pinnedCallees returns the pinned tools of a server.
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

// checkMisuses reports wrong uses of arguments in an expression.
func (c *compiler) checkMisuses(v *syntax.Node, place string, tools []guard.Tool) {
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
	c.ReportMisuses(v, interval.Misuses(v.Text, env, b, tools), func(at syntax.Position, server string) { c.loader.untypedServer(at, server, c.locked) })
}

// untypedServer warns, once per server, that expressions about arguments of its
// tools are not checked. In a project with a lock file, checkPins reports that it
// is not pinned. spec is the spec whose project pins the servers.
func (l *loader) untypedServer(at syntax.Position, server string, spec func() string) {
	if l.options.Pins == nil || l.pins() != nil || l.untyped[server] {
		return
	}
	if l.untyped == nil {
		l.untyped = map[string]bool{}
	}
	l.untyped[server] = true
	l.Report.Warn(diag.Unpinned, at, "MCP server %q is not pinned, so the arguments of its tools cannot be checked", server).
		Hint = "pexctl tools lock " + l.Files.Shown(spec()) + " pins its current tools"
}

// decodedSchema returns a schema as a Go value, or nil if it is not valid JSON.
func decodedSchema(schema json.RawMessage) (v any) {
	if json.Unmarshal(schema, &v) != nil {
		return nil
	}
	return v
}
