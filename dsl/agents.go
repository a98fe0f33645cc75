package dsl

import (
	"path/filepath"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/edit"
	"github.com/pexctl/pex/dsl/specfs"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// AgentRef compiles the spec that a value names. A resolved spec contains the
// agent's spec itself: {file, spec}. The section of a role is decoded for the
// role, and again for each graph node of its type; both refer to one agent.
func (c *compiler) AgentRef(v *syntax.Node, where string, a *component.AgentRef) {
	if p := c.embedded[v]; p != nil {
		a.File = p.File
		a.Bind(p)
		return
	}
	if v.Kind == syntax.Map && v.Source.Kind == syntax.Resolved {
		c.resolvedAgent(v, where, a)
		return
	}
	if v.Kind != syntax.Text {
		c.WrongType(v, where, "the path of a spec")
		return
	}
	before := len(c.Report.List)
	s := c.agentOf(v, c.loader.edits.Within(where))
	if s == nil || s.program == nil {
		if !c.Report.FailedSince(before) && s != nil && s.Kind != specfs.KindAgent {
			c.Report.Error(diag.WrongKind, v.Position, "%s has kind: %s; an agent must have kind: Agent", syntax.Quote(v.Text), s.Kind)
		}
		return
	}
	if !c.countAgent(s, v.Position) {
		return
	}
	if rel, err := filepath.Rel(c.Dir, s.File); err == nil {
		a.File = filepath.ToSlash(rel) + s.fragment()
	}
	c.addAgentProgram(v, where, a, s.program)
	c.agents = append(c.agents, s)
	c.embed(v, a.File, s.program)
}

// agentOf compiles the spec that a value names: a file, an agent in a file
// (team.yaml#writer), or an agent of this file (#writer). It returns nil after
// reporting an error.
func (c *compiler) agentOf(v *syntax.Node, edits edit.Edits) *Spec {
	name, agent := c.loader.Files.SplitAgent(v)
	if name == "" && v.Text != "" {
		return c.compileInner(agent, v.Position, edits)
	}
	src := c.loader.specNamed(v, name)
	if src == nil {
		return nil
	}
	if src.Agent = agent; c.loader.rejectCall(src, v.Position) {
		return nil
	}
	return c.loader.build(agentKey{name: src.PathWithAgent(), edits: edits.Key()}, v.Position, func() *Spec {
		sub := c.loader.nested(edits)
		s := sub.loadSource(src)
		c.loader.ReadPaths = append(c.loader.ReadPaths, sub.ReadPaths...)
		return s
	})
}

// nested returns a loader for a spec that this one calls, with the edits of its prompts.
func (l *loader) nested(edits edit.Edits) *loader {
	sub := &loader{Unit: &config.Unit{Report: l.Report, Files: l.Files}, options: l.options, chain: l.chain, lock: l.lock, built: l.built, edits: edits}
	sub.options.Set, sub.options.Environ, sub.options.Prompts = nil, nil, nil
	return sub
}

// addAgentProgram adds the program that a value names to the agents of the program being
// compiled. It adds a copy, because other places may call the agent by another
// path.
func (c *compiler) addAgentProgram(v *syntax.Node, where string, a *component.AgentRef, shared *engine.Program) {
	own := *shared
	p := &own
	p.File, p.Caller = a.File, edit.CallerAt(where)
	a.Bind(p)
	c.embedded[v] = p
	if c.program != nil { // nil for a library, which has no program
		c.program.Agents = append(c.program.Agents, p)
	}
}

// embed replaces the file name of an agent by the name and its resolved spec. The
// name becomes relative to the folder of the outer spec.
func (c *compiler) embed(v *syntax.Node, name string, p *engine.Program) {
	file := *v
	file.Text = name
	spec, err := syntax.ParseJSON(&syntax.Source{Name: name, Kind: syntax.Resolved, Text: p.Source})
	if err != nil {
		panic("the source of a program is not JSON: " + err.Error())
	}
	*v = syntax.Node{Position: v.Position, Kind: syntax.Map, Entries: []*syntax.Entry{{Key: "file", Position: v.Position, Value: &file}, {Key: "spec", Position: v.Position, Value: spec}}}
}

func (c *compiler) resolvedAgent(v *syntax.Node, where string, a *component.AgentRef) {
	spec := v.Get("spec")
	if a.File = syntax.TextOf(v, "file"); spec == nil {
		return
	}
	file := filepath.Join(c.Dir, filepath.FromSlash(a.File))
	edits := c.loader.edits.Within(where)
	key := agentKey{name: file, text: specfs.Digest(spec.AppendJSON(nil)), edits: edits.Key()}
	s := c.loader.build(key, v.Position, func() *Spec {
		return c.loader.nested(edits).finish(spec, &syntax.Source{Name: a.File, Kind: syntax.Resolved, Path: file})
	})
	if s != nil && s.program != nil && c.countAgent(s, v.Position) {
		c.addAgentProgram(v, where, a, s.program)
	}
}
