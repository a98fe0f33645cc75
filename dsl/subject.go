package dsl

import (
	"path/filepath"
	"slices"

	"github.com/pexctl/pex/dsl/guard"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/dsl/testspec"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/model"
)

// toolNames returns the tools of a spec, and of the agents in it, including tools
// of pinned servers. servers are the other servers, whose tools are known only at
// run time.
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

// agentsIn returns the resolved specs within one: {file, spec}.
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

// allCallees returns the tools of a spec and of the agents within it.
func (s *Spec) allCallees() []guard.Tool {
	out := slices.Clip(s.callees)
	for _, a := range s.agents {
		out = append(out, a.allCallees()...)
	}
	return out
}

// Callees returns the tools of the spec as expressions know them.
func (s *Spec) Callees() []guard.Tool { return slices.Clone(s.callees) }

// newSubject returns the spec in the form for tests and suites.
func (s *Spec) newSubject() *testspec.Subject {
	return &testspec.Subject{
		File: s.File, Path: s.Path(), Program: s.program, Tree: s.tree, Models: s.models,
		ToolNames: s.toolNames, Callees: s.allCallees,
	}
}

// Unpriced returns the LLMs that a spec uses and that have no price, so the cost
// of its runs is unknown.
func (s *Spec) Unpriced() (out []string) {
	for _, m := range s.program.Models {
		for _, used := range s.models {
			if used == m.Name && m.Cost == nil {
				out = append(out, m.Name)
			}
		}
	}
	return out
}

// CostsMoney reports whether a spec uses an LLM with a price above zero.
func (s *Spec) CostsMoney() bool {
	return slices.ContainsFunc(s.program.Models, func(m engine.ModelSpec) bool {
		return slices.Contains(s.models, m.Name) && !m.Offline() && m.Cost != nil && *m.Cost != model.Cost{}
	})
}
