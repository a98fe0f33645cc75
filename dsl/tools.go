package dsl

import (
	"slices"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// toolSection reads the entries of tools.
func (c *compiler) toolSection() {
	v := c.section("tools", c.doc.Tools)
	for _, e := range v.entries {
		if !c.loader.options.left() && c.usable(e, "a tool") {
			c.tool(e)
		}
	}
}

func (c *compiler) tool(e *entry) {
	path := "tools." + e.key
	if e.val.kind == null {
		*e.val = value{place: e.place, kind: dict}
	}
	if e.val.kind != dict {
		c.wrongType(e.val, path, "a mapping").Hint = "a builtin without settings is " + e.key + ": {}"
		return
	}
	f, ok := c.toolType(e)
	if !ok {
		return
	}
	k, config, before := tool{}, f.Config(), len(c.report.list)
	c.decode(e.val, path, &k, config)
	t := engine.ToolSpec{
		Name: e.key, Type: f.Type, Config: config, Description: k.Description, Effect: engine.Effect(k.Effect),
		Approval: k.Approval, OnUnknown: engine.OnUnknown(k.OnUnknown), Timeout: k.Timeout, MaxOutputBytes: k.MaxOutputBytes, MaxConcurrent: k.MaxConcurrent,
		OutputFilter: k.OutputFilter, IncludeOutput: k.IncludeOutput, With: c.with(k.With, path+".with"),
		LLMs: modelsIn(target(config)),
	}
	if k.Retry != nil {
		t.Retry = engine.RetryPolicy(*k.Retry)
	}
	if careful, ok := config.(engine.Careful); ok && t.Approval.IsZero() {
		t.Approval.Source = careful.DefaultApproval()
	}
	c.checkTool(e, &t, f, c.report.failedSince(before))
	if c.source != nil && c.source.agent != "" {
		c.used[path] = true // an agent within a file has no tool that it does not name
	}
	c.tools = append(c.tools, t)
}

type toolFactory = component.Factory[engine.ToolSettings, engine.Tool]

// toolType finds the component that an entry asks for.
func (c *compiler) toolType(e *entry) (toolFactory, bool) {
	set := c.loader.options.Catalog.Tools
	typ, use := e.val.get("type"), e.val.get("use")
	at, name := e.place, e.key
	switch {
	case typ != nil && typ.text != "builtin":
		at, name = typ.place, typ.text
		if use != nil {
			c.report.error(diag.UnknownKey, e.val.find("use").place, "use belongs to type: builtin, not %s", typ.text)
		}
	case use != nil:
		at, name = use.place, use.text
	}
	f, ok := set.Find(name)
	if ok {
		return f, true
	}
	all := set.Types()
	if typ == nil && use == nil {
		d := c.report.error(diag.UnknownType, at, "the tool %s has no type, and there is no builtin of that name", quoted(name))
		if near := diag.Nearest(name, all); near != "" {
			d.Advice = diag.DidYouMean(name, near, "else say its type")
		} else {
			d.Hint = "say its type; " + diag.Suggest(name, all).Hint
		}
		return f, false
	}
	c.report.error(diag.UnknownType, at, "there is no tool type %s", quoted(name)).Advice = diag.Suggest(name, all)
	return f, false
}

// with reads the fixed arguments.
func (c *compiler) with(v *value, path string) []engine.Fixed {
	if v == nil {
		return nil
	}
	if v.kind != dict {
		c.wrongType(v, path, "a mapping of arguments")
		return nil
	}
	out := make([]engine.Fixed, len(v.entries))
	for i, e := range v.entries {
		out[i].Name = e.key
		c.valueRef(e.val, `vars:"parameters"`, &out[i].Value)
	}
	return out
}

// checkTool builds the tool, which opens nothing, to learn what it does. Why
// one cannot be made that was not read whole is known already.
func (c *compiler) checkTool(e *entry, t *engine.ToolSpec, f toolFactory, broken bool) {
	effect := t.Effect
	built, err := c.build(f, t)
	c.builtTools[t.Name] = built
	switch {
	case err != nil && !broken:
		c.refused(e.val, e.place, "the tool "+t.Name, err)
	case err == nil && effect == "":
		effect = built.Info().Effect
	}
	if effect == "" && err == nil {
		effect = engine.WriteEffect // a tool that does not say
	}
	if _, many := built.(engine.Toolset); !many {
		t.Effect = effect
	}
	r := e.val.find("retry")
	repeats := r != nil && t.Retry.MaxAttempts > 1
	if _, agent := built.(engine.Delegate); agent { // whose own tools are checked with its spec
		if repeats {
			c.report.error(diag.RetryWrite, r.place, "the tool %s is an agent, which is not repeated as a whole", t.Name).
				Hint = "remove retry; what the agent calls has a retry of its own in its spec"
		}
		return
	}
	if effect != engine.WriteEffect {
		return
	}
	if repeats {
		c.report.error(diag.RetryWrite, r.place, "the tool %s writes, so it is never repeated", t.Name).
			Hint = "remove retry; effect: idempotent says that a repeated call does no harm"
	}
	if t.Approval.IsZero() && !c.deniedByGuard() {
		c.report.warn(diag.UnapprovedTool, e.place, "the tool %s writes, and nobody approves its calls", t.Name).
			Hint = "write approval: always or an expression; approval: never says that this is meant"
	}
}

// build makes a tool as a run would.
func (c *compiler) build(f toolFactory, t *engine.ToolSpec) (engine.Tool, error) {
	return f.Build(t.Config, engine.ToolSettings{
		Name: t.Name, Description: t.Description, Dir: c.dir, Root: c.loader.files.root,
		Allow: c.loader.options.AllowPaths, Env: func(string) string { return "" },
	})
}

// deniedByGuard says whether a guard looks at tool calls before they happen.
func (c *compiler) deniedByGuard() bool {
	if c.doc.Guards == nil {
		return false
	}
	return slices.ContainsFunc(c.doc.Guards.items, func(g *value) bool {
		keeps := []engine.GuardAction{engine.GuardDeny, engine.GuardInterrupt, engine.GuardReplan}
		return textAt(g, "at") == string(engine.BeforeTool) && slices.Contains(keeps, engine.GuardAction(textAt(g, "do")))
	})
}
