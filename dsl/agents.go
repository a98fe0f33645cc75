package dsl

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
)

// maxAgents bounds how deep agents may call agents.
const maxAgents = 5

// agentRef compiles the spec that a value names. In a resolved spec the whole
// of it stands there: {file, spec}.
func (c *compiler) agentRef(v *value, where string, a *component.AgentRef) {
	if v.kind == dict && v.src.kind == resolved {
		c.resolvedAgent(v, a)
		return
	}
	if v.kind != text {
		c.wrongType(v, where, "the file of a spec")
		return
	}
	name := v.text
	src, no := c.loader.files.read(v.src, name)
	if no != nil && strings.HasSuffix(no.message, errNotFile.Error()) || no != nil && filepath.Ext(name) == "" {
		src, no = c.loader.files.read(v.src, filepath.Join(name, defaultFile))
	}
	if no != nil {
		c.loader.refuse(v.place, no)
		return
	}
	if slices.Contains(c.loader.chain, src.path) {
		c.report.error(diag.Cycle, v.place, "%s calls itself: %s", src.name, c.loader.routeTo(src.path))
		return
	}
	if len(c.loader.chain) >= maxAgents {
		c.report.error(diag.Cycle, v.place, "agents call agents more than %d deep", maxAgents)
		return
	}
	sub := &loader{options: c.loader.options, report: c.report, files: c.loader.files, chain: c.loader.chain, lock: c.loader.lock}
	sub.options.Set, sub.options.Environ = nil, nil // overrides are the outer spec's
	before := len(c.report.list)
	s := sub.loadSource(src)
	c.loader.read = append(c.loader.read, sub.read...)
	if s == nil || s.program == nil {
		if !c.report.failedSince(before) && s != nil && s.Kind != "Agent" {
			c.report.error(diag.WrongKind, v.place, "%s is of kind: %s, not Agent", src.name, s.Kind)
		}
		return
	}
	if rel, err := filepath.Rel(c.dir, src.path); err == nil {
		a.File = filepath.ToSlash(rel)
	}
	c.within(a, s.program)
	c.embed(v, a.File, s.program)
}

// within makes a program one of those within the one that is compiled.
func (c *compiler) within(a *component.AgentRef, p *engine.Program) {
	p.File = a.File
	a.Bind(p)
	if c.program != nil { // else it is a library's, and no program
		c.program.Agents = append(c.program.Agents, p)
	}
}

// embed puts the resolved spec of an agent beside its file's name, which is
// then relative to the folder of the outer spec.
func (c *compiler) embed(v *value, name string, p *engine.Program) {
	file := *v
	file.text = name
	spec, err := fromJSON(&source{name: name, kind: resolved, text: p.Source})
	if err != nil {
		panic("the source of a program is no JSON: " + err.Error())
	}
	*v = value{place: v.place, kind: dict, entries: []*entry{{"file", v.place, &file}, {"spec", v.place, spec}}}
}

func (c *compiler) resolvedAgent(v *value, a *component.AgentRef) {
	spec := v.get("spec")
	if a.File = textAt(v, "file"); spec == nil {
		return
	}
	file := filepath.Join(c.dir, filepath.FromSlash(a.File))
	sub := &loader{options: c.loader.options, report: c.report, files: c.loader.files, chain: c.loader.chain}
	if s := sub.finish(spec, &source{name: a.File, kind: resolved, path: file}); s.program != nil {
		c.within(a, s.program)
	}
}

func (l *loader) routeTo(path string) string {
	names := make([]string, 0, len(l.chain)+1)
	for _, p := range append(slices.Clone(l.chain), path) {
		names = append(names, l.files.name(p))
	}
	return strings.Join(names, " -> ")
}
