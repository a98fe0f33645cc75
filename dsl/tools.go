package dsl

import (
	"slices"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/llm"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/interrupt"
	"github.com/pexctl/pex/engine/retry"
	"github.com/pexctl/pex/engine/tool"
)

// toolSection decodes the entries of tools.
func (c *compiler) toolSection() {
	v := c.Section("tools", c.doc.Tools)
	for _, e := range v.Entries {
		if !c.loader.options.cancelled() && c.CheckName(e, "a tool") {
			c.tool(e)
		}
	}
}

func (c *compiler) tool(e *syntax.Entry) {
	path := "tools." + e.Key
	if e.Value.Kind == syntax.Null {
		*e.Value = syntax.Node{Position: e.Position, Kind: syntax.Map}
	}
	if e.Value.Kind != syntax.Map {
		c.WrongType(e.Value, path, "a mapping").Hint = "for a built-in tool without settings, write " + e.Key + ": {}"
		return
	}
	f, ok := c.toolType(e)
	if !ok {
		return
	}
	k, settings, before := language.Tool{}, f.Config(), len(c.Report.List)
	c.Decode(e.Value, path, &k, settings)
	t := tool.Spec{
		Name: e.Key, Type: f.Type, Config: settings, Description: k.Description, Effect: tool.Effect(k.Effect),
		Approval: k.Approval, Rule: interrupt.Rule{Approvers: k.Approvers, FourEyes: k.FourEyes}, OnUnknown: tool.OnUnknown(k.OnUnknown), Timeout: k.Timeout, MaxOutputBytes: k.MaxOutputBytes, MaxConcurrent: k.MaxConcurrent,
		OutputFilter: k.OutputFilter, IncludeOutput: k.IncludeOutput, With: c.with(k.With, path+".with"),
		LLMs: llm.NamesIn(config.Struct(settings)), Host: c.hostLabel(e.Value, k.Host),
	}
	if k.Retry != nil {
		t.Retry = retry.Policy(*k.Retry)
	}
	if careful, ok := settings.(tool.DefaultApprover); ok && t.Approval.IsZero() {
		t.Approval.Source = careful.DefaultApproval()
	}
	c.checkTool(e, &t, f, c.Report.FailedSince(before))
	if c.source != nil && c.source.Agent != "" {
		c.Used[path] = true // an agent within a file has only tools that it names
	}
	c.tools = append(c.tools, t)
}

// hostLabel checks the label of the machines that run a tool. It is part of the name of a queue.
func (c *compiler) hostLabel(v *syntax.Node, label string) string {
	if label == "" || config.NamePattern().MatchString(label) && len(label) <= config.MaxName {
		return label
	}
	c.Report.Error(diag.BadName, v.Get("host").Position, "invalid label %s for a host", syntax.Quote(label)).
		Hint = "a label starts with a letter and contains only letters, digits, _ and -"
	return ""
}

type toolFactory = component.Factory[tool.Settings, tool.Tool]

// toolType returns the component of an entry.
func (c *compiler) toolType(e *syntax.Entry) (toolFactory, bool) {
	set := c.loader.options.Catalog.Tools
	typ, use := e.Value.Get("type"), e.Value.Get("use")
	at, name := e.Position, e.Key
	switch {
	case typ != nil && typ.Text != "builtin":
		at, name = typ.Position, typ.Text
		if use != nil {
			c.Report.Error(diag.UnknownKey, e.Value.Find("use").Position, "use is a key of type: builtin, not of type: %s", typ.Text)
		}
	case use != nil:
		at, name = use.Position, use.Text
	}
	f, ok := set.Find(name)
	if ok {
		return f, true
	}
	all := set.Types()
	if typ == nil && use == nil {
		d := c.Report.Error(diag.UnknownType, at, "tool %s has no type, and no built-in tool has this name", syntax.Quote(name))
		if near := diag.Nearest(name, all); near != "" {
			d.Advice = diag.DidYouMean(name, near, "otherwise set its type")
		} else {
			d.Hint = "set its type; " + diag.Suggest(name, all).Hint
		}
		return f, false
	}
	c.Report.Error(diag.UnknownType, at, "unknown tool type %s", syntax.Quote(name)).Advice = diag.Suggest(name, all)
	return f, false
}

// with decodes the fixed arguments.
func (c *compiler) with(v *syntax.Node, path string) []tool.Fixed {
	if v == nil {
		return nil
	}
	if v.Kind != syntax.Map {
		c.WrongType(v, path, "a mapping of arguments")
		return nil
	}
	out := make([]tool.Fixed, len(v.Entries))
	for i, e := range v.Entries {
		out[i].Name = e.Key
		c.ValueRef(e.Value, `vars:"parameters"`, &out[i].Value)
	}
	return out
}

// checkTool builds the tool, which opens nothing, to learn its effect. If the
// entry has errors, it does not report why the tool cannot be built.
func (c *compiler) checkTool(e *syntax.Entry, t *tool.Spec, f toolFactory, broken bool) {
	effect := t.Effect
	built, err := c.build(f, t)
	c.builtTools[t.Name] = built
	if _, asks := built.(tool.HumanTool); t.Approval.IsZero() && !t.Rule.IsZero() && !asks {
		t.Approval.Source = "always"
	}
	switch {
	case err != nil && !broken:
		c.ReportBuildError(e.Value, e.Position, "tool "+syntax.Quote(t.Name), err)
	case err == nil && effect == "":
		effect = built.Info().Effect
	}
	if effect == "" && err == nil {
		effect = tool.WriteEffect // the default of a tool that does not declare it
	}
	if _, many := built.(tool.Toolset); !many {
		t.Effect = effect
	}
	_, t.Stateful = built.(tool.SessionKeeper)
	r := e.Value.Find("retry")
	repeats := r != nil && t.Retry.MaxAttempts > 1
	if _, agent := built.(engine.AgentTool); agent { // its own tools are checked with its spec
		if repeats {
			c.Report.Error(diag.RetryWrite, r.Position, "tool %q is an agent, and an agent is never retried as a whole", t.Name).
				Hint = "remove retry; set retry for the tools in the agent's own spec"
		}
		return
	}
	if effect != tool.WriteEffect {
		return
	}
	if repeats {
		c.Report.Error(diag.RetryWrite, r.Position, "tool %q writes, so it is never retried", t.Name).
			Hint = "remove retry, or declare effect: idempotent if a repeated call is safe"
	}
	if t.Approval.IsZero() && !c.deniedByGuard() {
		c.Report.Warn(diag.UnapprovedTool, e.Position, "tool %q writes but has no approval", t.Name).
			Hint = "add approval: always or an expression, or approval: never if this is intended"
	}
}

// build builds a tool like a run does.
func (c *compiler) build(f toolFactory, t *tool.Spec) (tool.Tool, error) {
	return f.Build(t.Config, tool.Settings{
		Name: t.Name, Description: t.Description, Dir: c.Dir, Root: c.loader.Files.Root,
		Allow: c.loader.options.AllowPaths, Env: func(string) string { return "" },
	})
}

// deniedByGuard reports whether a guard is evaluated before tool calls.
func (c *compiler) deniedByGuard() bool {
	if c.doc.Guards == nil {
		return false
	}
	return slices.ContainsFunc(c.doc.Guards.Items, func(g *syntax.Node) bool {
		keeps := []engine.GuardAction{engine.GuardDeny, engine.GuardInterrupt, engine.GuardReplan}
		return syntax.TextOf(g, "at") == string(engine.BeforeTool) && slices.Contains(keeps, engine.GuardAction(syntax.TextOf(g, "do")))
	})
}
