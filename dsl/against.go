package dsl

import (
	"bytes"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
)

// newAgainst makes a compiler for what refers to specs: it knows their
// parameters, and the prompts of the first. With a nil one among them nothing
// is known, and any name may be used.
func newAgainst(l *loader, tree *syntax.Node, dir string, specs ...*Spec) *compiler {
	c := newCompiler(l, tree, dir)
	c.Quiet = true
	if c.AnyParameter = len(specs) == 0 || slices.Contains(specs, nil); c.AnyParameter {
		return c
	}
	c.against = specs
	for _, s := range specs {
		for _, p := range s.program.Parameters {
			c.meet(p)
		}
	}
	if v := specs[0].tree.Get("prompts"); v != nil && v.Kind == syntax.Map {
		c.doc.Prompts = v
	}
	return c
}

// meet adds a parameter to those that are known. One that another spec declares
// otherwise has no type, and may be unset if it may be in one of them.
func (c *compiler) meet(p engine.Parameter) {
	i := slices.IndexFunc(c.Parameters, func(q engine.Parameter) bool { return q.Name == p.Name })
	if i < 0 {
		var property any
		_ = json.Unmarshal(p.Schema, &property) // it was compiled
		c.Parameters, c.Properties[p.Name] = append(c.Parameters, p), property
		return
	}
	q := c.Parameters[i]
	if !bytes.Equal(p.Schema, q.Schema) {
		c.Properties[p.Name] = nil
	}
	if !p.Required && p.Default == nil {
		c.Parameters[i] = p
	}
}

// toolNames lists the tools of a spec, and of the agents in it, with those of
// servers that are pinned. servers are the others, whose tools are known only
// when they run.
func (s *Spec) toolNames() (names, servers []string) { return s.toolsIn(s.tree, s.File) }

func (s *Spec) toolsIn(tree *syntax.Node, file string) (names, servers []string) {
	v := tree.Get("tools")
	if v == nil {
		v = &syntax.Node{Kind: syntax.Map}
	}
	for _, e := range v.Entries {
		if syntax.TextOf(e.Value, "type") != server {
			names = append(names, e.Key)
		} else if pinned := s.pinOf(file, e.Key); pinned != nil {
			names = append(names, pinned.Members()...)
		} else {
			names, servers = append(names, e.Key), append(servers, e.Key)
		}
	}
	for _, agent := range agentsIn(tree, nil) {
		within := filepath.Join(filepath.Dir(file), filepath.FromSlash(syntax.TextOf(agent, "file")))
		n, more := s.toolsIn(agent.Get("spec"), within)
		names, servers = append(names, n...), append(servers, more...)
	}
	return names, servers
}

// agentsIn finds the resolved specs that stand in one: {file, spec}.
func agentsIn(v *syntax.Node, out []*syntax.Node) []*syntax.Node {
	for _, it := range v.Items {
		out = agentsIn(it, out)
	}
	for _, e := range v.Entries {
		if spec := e.Value.Get("spec"); spec != nil && spec.Kind == syntax.Map && spec.Find("apiVersion") != nil {
			out = append(out, e.Value)
			continue
		}
		out = agentsIn(e.Value, out)
	}
	return out
}

// toolWord checks the name of a tool, or a pattern of names.
func (c *compiler) toolWord(s *Spec, v *syntax.Node, name string, severity diag.Severity) {
	if s == nil || name == "" {
		return
	}
	names, servers := s.toolNames()
	matches := func(n string) bool { ok, err := path.Match(name, n); return ok && err == nil }
	served := func(entry string) bool { return slices.Contains(servers, entry) }
	if slices.ContainsFunc(entriesOf(name), served) || slices.ContainsFunc(names, matches) || strings.HasPrefix(name, "*") && len(servers) > 0 {
		return
	}
	c.Report.Add(diag.UnknownTool, severity, v.Position, "%s has no tool %s", c.loader.Files.Shown(s.File), syntax.Quote(name)).Advice = diag.Suggest(name, names)
}
