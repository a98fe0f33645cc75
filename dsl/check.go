package dsl

import (
	"path"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
)

// checkUse looks at the llms that nodes and tools use: a cost limit needs their prices,
// and an entry that none uses is doubtful.
func (c *compiler) checkUse(named []string) {
	if r := c.program.Memory.Compaction.Summarize; r != nil {
		named = append(named, r.LLM)
	}
	used := c.usedModels(append(named, modelsOfTools(c.tools)...))
	c.usedLLMs = used
	if max := c.doc.Limits.MaxCost; max > 0 {
		for _, m := range c.models {
			if slices.Contains(used, m.Name) && m.Cost == nil {
				c.report.error(diag.NoCost, c.llmValues[m.Name].place, "limits.max_cost cannot hold: the llm %s has no price", m.Name).
					Hint = "add cost: {input: 0.4, output: 1.6} with the provider's prices in USD per million tokens (0 where it is free), or name a file of prices by --prices"
			}
		}
	}
	if c.report.list.Failed() || c.llmReplaced() {
		return
	}
	for _, name := range c.llmNames {
		derived := slices.ContainsFunc(used, func(u string) bool { return strings.HasPrefix(u, name+"+") })
		if e := c.doc.LLMs.find(name); e != nil && !derived && !slices.Contains(used, name) && e.place.src.kind == specFile {
			c.report.warn(diag.Unused, e.place, "no role uses the llm %s", name)
		}
	}
}

// llmReplaced says whether an override gives a role another llm: what that
// leaves without use is no mistake of the spec.
func (c *compiler) llmReplaced() bool {
	return slices.ContainsFunc(roles, func(role string) bool {
		v := c.tree.get(role).get("llm")
		return v != nil && v.src != nil && (v.src.kind == flagText || v.src.kind == envText)
	})
}

// check reports what only the whole spec shows. before is the length of the
// report when it began.
func (c *compiler) check(before int) {
	if c.report.failedSince(before) {
		return // what is unused may only be misspelt elsewhere
	}
	for _, e := range c.doc.Prompts.entries {
		if !c.used["prompts."+e.key] && e.place.src.kind == specFile {
			c.report.warn(diag.Unused, e.place, "nothing uses the prompt %s", e.key)
		}
	}
}

// toolNames checks the names and patterns of tools that nodes write.
func (c *compiler) toolNames(all []built) {
	for _, b := range all {
		switch b.typ {
		case executor:
			for _, key := range []string{"tools", "exclude_tools"} {
				if v := b.value.get(key); v != nil {
					for _, it := range v.items {
						c.toolName(it)
					}
				}
			}
		case "tool":
			if v := b.value.get("tool"); v != nil {
				c.toolName(v)
			}
		}
	}
}

func (c *compiler) toolName(v *value) {
	if v.kind != text {
		return
	}
	names := c.doc.Tools.keys()
	served, members := c.serverTools(v.text)
	_, err := path.Match(v.text, "")
	switch {
	case err != nil:
		c.report.error(diag.UnknownTool, v.place, "%s is no pattern: a [ is not closed", quoted(v.text))
	case strings.Contains(v.text, "__") && served:
	case len(members) > 0 && strings.Contains(v.text, "__"):
		c.report.error(diag.UnknownTool, v.place, "no tool that is pinned is called %s", quoted(v.text)).Hint = meant(v.text, members)
	case !slices.ContainsFunc(names, func(n string) bool { ok, _ := path.Match(v.text, n); return ok }):
		c.report.error(diag.UnknownTool, v.place, "no tool is called %s", quoted(v.text)).Hint = meant(v.text, names)
	}
}

// Parameter is found by name; nil = not declared.
func parameter(p *engine.Program, name string) *engine.Parameter {
	i := slices.IndexFunc(p.Parameters, func(p engine.Parameter) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Parameters[i]
}
