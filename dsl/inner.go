package dsl

import (
	"path"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
)

// cutAgent parts "spec.yaml#researcher" into the file and the agent in it. A #
// may stand in a path, too: no agent is called like a folder or a file.
func cutAgent(name string) (file, agent string) {
	at := strings.LastIndexByte(name, '#')
	if at < 0 || strings.Contains(name[at:], "/") || slices.Contains([]string{".yaml", ".yml"}, path.Ext(name[at:])) {
		return name, ""
	}
	return name[:at], name[at+1:]
}

// ofFile are the keys that a file has and an agent within it has not.
var ofFile = []string{"apiVersion", "kind", "include", "extends", "agents", "tests", "evals"}

// inner is the tree of an agent that stands in the file of another: what it says
// itself, over what the file shares with it. That is its llms and prompts, and of
// its tools those that the agent's executor.tools and nodes name. at is where it is asked for; nil = reported.
func (l *loader) inner(tree *value, name string, at place) *value {
	agents := tree.get("agents")
	e := agents.find(name)
	if e == nil {
		l.report.error(diag.UnknownAgent, at, "the file has no agent %s", quoted(name)).Advice = diag.Suggest(name, agents.keys())
		return nil
	}
	own := e.val
	if own.kind == null {
		own = &value{place: own.place, kind: dict} // it has what its file shares
	}
	if own.kind != dict {
		l.report.error(diag.WrongType, own.place, "agents.%s wants a mapping, not %s", name, own.describe())
		return nil
	}
	for _, key := range ofFile {
		if e := own.find(key); e != nil {
			l.report.error(diag.UnknownKey, e.place, "an agent within a file has no %s of its own", key).Hint = "it shares what its file has"
			return nil
		}
	}
	shared := &value{place: own.place, kind: dict}
	for _, key := range []string{"apiVersion", "kind", "llms", "prompts"} {
		if e := tree.find(key); e != nil {
			shared.set(key, e.place, e.val)
		}
	}
	shared.set("metadata", own.place, object("name", &value{place: own.place, kind: text, text: name}))
	if e := tree.find("tools"); e != nil {
		shared.set("tools", e.place, granted(e.val, own))
	}
	return merged("", shared, own).clone()
}

// granted are the tools of a file that an agent within it names.
func granted(tools, agent *value) *value {
	var patterns []string
	grant := func(role *value) {
		if names := role.get("tools"); names != nil {
			for _, it := range names.items {
				patterns = append(patterns, append(entriesOf(it.text), it.text)...)
			}
		}
	}
	grant(agent.get("executor"))
	if nodes := agent.get("graph").get("nodes"); nodes != nil {
		for _, n := range nodes.items {
			grant(n)
			patterns = append(patterns, textAt(n, "tool"))
		}
	}
	out := &value{place: tools.place, kind: dict}
	for _, e := range tools.entries {
		if slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, e.key); return ok }) {
			out.entries = append(out.entries, e)
		}
	}
	return out
}

// innerAgents compiles the agents of a file that nothing has called, to say what
// is wrong with them.
func (c *compiler) innerAgents() {
	if len(c.loader.chain) > 1 || c.whole == nil || c.source == nil || c.source.agent != "" {
		return
	}
	for _, e := range c.whole.get("agents").entries {
		if c.usable(e, "an agent") && !c.used["agents."+e.key] {
			if s := c.compileInner(e.key, e.place); s != nil {
				c.agents = append(c.agents, s)
			}
		}
	}
}

// compileInner compiles an agent of the file; nil = it has mistakes.
func (c *compiler) compileInner(name string, at place) *Spec {
	if c.source == nil || c.whole == nil {
		c.report.error(diag.UnknownAgent, at, "the file has no agent %s", quoted(name)).Hint = "agents of a file stand under its key agents"
		return nil
	}
	c.used["agents."+name] = true
	src := *c.source
	src.agent = name
	if c.loader.calls(&src, at) {
		return nil
	}
	s := c.loader.build(agentKey{whole: c.whole, name: src.whole()}, at, func() *Spec {
		tree := c.loader.inner(c.whole, name, at)
		if tree == nil {
			return nil
		}
		sub := c.loader.below()
		sub.outer = c.whole
		s := sub.finish(tree, &src)
		c.loader.read = append(c.loader.read, sub.read...)
		return s
	})
	if s == nil {
		return nil
	}
	for used := range s.uses {
		if !strings.HasPrefix(used, "parameters.") {
			c.used[used] = true // the file's entry, too
		}
	}
	return s
}
