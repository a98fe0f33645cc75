package dsl

import (
	"path"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/tool"
)

// checkUse checks the LLMs that nodes and tools use: a cost limit requires their
// prices.
func (c *compiler) checkUse(named []string) {
	if r := c.program.Memory.Compaction.Summarize; r != nil {
		named = append(named, r.LLM)
	}
	used := c.WithFallbacks(append(named, modelsOfTools(c.tools)...))
	c.usedLLMs = used
	for _, m := range c.Specs {
		if slices.Contains(used, m.Name) && m.Cost == nil {
			c.program.Unpriced = append(c.program.Unpriced, m.Name)
		}
	}
	if c.doc.Limits.MaxCost > 0 {
		c.checkPrices()
	}
}

// checkPrices reports the LLMs without a price that a cost limit needs, including
// those of agents, which share the budget.
func (c *compiler) checkPrices() {
	const (
		add  = "add cost: {input: PRICE, output: PRICE}"
		hint = " with the provider's prices in USD per million tokens (0 if it is free), or pass a price file with --prices"
	)
	for _, name := range c.program.Unpriced {
		c.Report.Error(diag.NoCost, c.Entries[name].Position, "limits.max_cost cannot be enforced: LLM %q has no price", name).
			Hint = add + hint
	}
	at := c.tree.Get("limits").Get("max_cost")
	for _, p := range agentsWithin(c.program) {
		for _, name := range p.Unpriced {
			c.Report.Error(diag.NoCost, at.Position, "limits.max_cost cannot be enforced: LLM %q of the agent %q has no price", name, p.Name).
				Hint = add + " to it in " + p.File + hint
		}
	}
}

// agentsWithin returns the agents of a program at any depth.
func agentsWithin(p *engine.Program) (out []*engine.Program) {
	for _, a := range p.Agents {
		out = append(append(out, a), agentsWithin(a)...)
	}
	return out
}

// checkToolNames checks the tool names and patterns of nodes.
func (c *compiler) checkToolNames(all []builtNode) {
	for _, b := range all {
		switch b.typ {
		case language.Executor:
			for _, key := range []string{"tools", "exclude_tools"} {
				if v := b.value.Get(key); v != nil {
					for _, it := range v.Items {
						c.toolName(it)
					}
				}
			}
		case "tool":
			if v := b.value.Get("tool"); v != nil {
				c.toolName(v)
			}
		}
	}
}

func (c *compiler) toolName(v *syntax.Node) {
	if v.Kind != syntax.Text || c.doc.Tools != nil && c.doc.Tools.Kind != syntax.Map && c.doc.Tools.Kind != syntax.Null {
		return // tools that is not a mapping was already reported
	}
	names := c.doc.Tools.Keys()
	served, members := c.serverTools(v.Text)
	_, err := path.Match(v.Text, "")
	switch {
	case err != nil:
		c.Report.Error(diag.UnknownTool, v.Position, "invalid pattern %s: a [ is not closed", syntax.Quote(v.Text))
	case strings.Contains(v.Text, "__") && served:
	case len(members) > 0 && strings.Contains(v.Text, "__"):
		c.Report.Error(diag.UnknownTool, v.Position, "pex.lock has no tool %s", syntax.Quote(v.Text)).Advice = diag.Suggest(v.Text, members)
	case matches(v.Text, names):
	case !strings.ContainsAny(v.Text, "*?["):
		c.Report.Error(diag.UnknownTool, v.Position, "undefined tool %s", syntax.Quote(v.Text)).Advice = diag.Suggest(v.Text, names)
	default:
		c.Report.Error(diag.UnknownTool, v.Position, "the pattern %s matches no tool", syntax.Quote(v.Text)).Advice = patternAdvice(v.Text, names)
	}
}

func matches(pattern string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { ok, _ := path.Match(pattern, n); return ok })
}

// patternAdvice returns the hint for a pattern that matches no name: the pattern in
// lower case or with - and _ exchanged, or the most similar name.
func patternAdvice(pattern string, names []string) diag.Advice {
	for _, other := range []string{strings.ReplaceAll(pattern, "-", "_"), strings.ReplaceAll(pattern, "_", "-"), strings.ToLower(pattern)} {
		if matches(other, names) {
			return diag.DidYouMean(pattern, other, "")
		}
	}
	return diag.Suggest(pattern, names)
}

// modelsOfTools returns the LLMs that tools may call.
func modelsOfTools(tools []tool.Spec) (out []string) {
	for _, t := range tools {
		out = append(out, t.LLMs...)
	}
	return out
}
