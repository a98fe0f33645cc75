package dsl

import (
	"path"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/edit"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
)

// innerTree returns the tree of an agent within a file: its own keys over what the
// file shares, which are the LLMs, the prompts, and the tools that its
// executor.tools and nodes name. at is the place that refers to it. inner returns
// nil after reporting an error.
func (l *loader) innerTree(tree *syntax.Node, name string, at syntax.Position) *syntax.Node {
	agents := tree.Get("agents")
	e := agents.Find(name)
	if e == nil {
		l.Report.Error(diag.UnknownAgent, at, "undefined agent %s", syntax.Quote(name)).Advice = diag.Suggest(name, agents.Keys())
		return nil
	}
	own := e.Value
	if own.Kind == syntax.Null {
		own = &syntax.Node{Position: own.Position, Kind: syntax.Map} // without keys of its own it has what its file shares
	}
	if own.Kind != syntax.Map {
		l.Report.Error(diag.WrongType, own.Position, "agents.%s must be a mapping, got %s", name, own.Describe())
		return nil
	}
	for _, key := range language.FileKeys {
		if e := own.Find(key); e != nil {
			l.Report.Error(diag.UnknownKey, e.Position, "an agent inside a file cannot have its own %s", key).Hint = "it uses those of the file"
			return nil
		}
	}
	shared := &syntax.Node{Position: own.Position, Kind: syntax.Map}
	for _, key := range []string{"apiVersion", "kind", "llms", "prompts"} {
		if e := tree.Find(key); e != nil {
			shared.Set(key, e.Position, e.Value)
		}
	}
	shared.Set("metadata", own.Position, syntax.NewMap("name", &syntax.Node{Position: own.Position, Kind: syntax.Text, Text: name}))
	if e := tree.Find("tools"); e != nil {
		shared.Set("tools", e.Position, grantedTools(e.Value, own))
	}
	return mergeSpecs("", shared, own).Clone()
}

// grantedTools returns the tools of a file that an agent within it names.
func grantedTools(tools, agent *syntax.Node) *syntax.Node {
	var patterns []string
	grant := func(role *syntax.Node) {
		if names := role.Get("tools"); names != nil {
			for _, it := range names.Items {
				patterns = append(patterns, append(language.ToolEntries(it.Text), it.Text)...)
			}
		}
	}
	grant(agent.Get(language.Executor))
	if nodes := agent.Get("graph").Get("nodes"); nodes != nil {
		for _, n := range nodes.Items {
			grant(n)
			patterns = append(patterns, syntax.TextOf(n, "tool"))
		}
	}
	out := &syntax.Node{Position: tools.Position, Kind: syntax.Map}
	for _, e := range tools.Entries {
		if slices.ContainsFunc(patterns, func(p string) bool { ok, _ := path.Match(p, e.Key); return ok }) {
			out.Entries = append(out.Entries, e)
		}
	}
	return out
}

// innerAgents compiles the agents of a file that nothing calls, to report their
// mistakes.
func (c *compiler) innerAgents() {
	if len(c.loader.chain) > 1 || c.fileTree == nil || c.source == nil || c.source.Agent != "" {
		return
	}
	for _, e := range c.fileTree.Get("agents").Entries {
		if c.CheckName(e, "an agent") && !c.Used["agents."+e.Key] {
			if s := c.compileInner(e.Key, e.Position, nil); s != nil {
				c.agents = append(c.agents, s)
			}
		}
	}
}

// compileInner compiles an agent of the file, or returns nil if it has errors.
func (c *compiler) compileInner(name string, at syntax.Position, edits edit.Edits) *Spec {
	if c.source == nil || c.fileTree == nil {
		c.Report.Error(diag.UnknownAgent, at, "undefined agent %s", syntax.Quote(name)).Hint = "define it under the key agents of the file"
		return nil
	}
	c.Used["agents."+name] = true
	src := *c.source
	src.Agent = name
	if c.loader.rejectCall(&src, at) {
		return nil
	}
	s := c.loader.build(agentKey{fileTree: c.fileTree, name: src.PathWithAgent(), edits: edits.Key()}, at, func() *Spec {
		tree := c.loader.innerTree(c.fileTree, name, at)
		if tree == nil {
			return nil
		}
		sub := c.loader.nested(edits)
		sub.outer = c.fileTree
		s := sub.finish(tree, &src)
		c.loader.ReadPaths = append(c.loader.ReadPaths, sub.ReadPaths...)
		return s
	})
	if s == nil {
		return nil
	}
	for used := range s.uses {
		if !strings.HasPrefix(used, "parameters.") {
			c.Used[used] = true // the entry of the file too
		}
	}
	return s
}
