package analysis

import (
	"slices"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/engine"
)

// fillsRole maps a role to a function that reports whether a node fills that role,
// whatever its type.
var fillsRole = map[string]func(*engine.Program, string) bool{
	language.Planner:   engine.NodeIs[engine.Planner],
	language.Executor:  engine.NodeIs[engine.StepRunner],
	language.Reflector: engine.NodeIs[engine.PlanReviewer],
}

// part is a node as written. In a graph that the spec defines, these are the keys
// of the node over those of its role's section; otherwise the section alone.
type part struct {
	id, typ string
	layers  []dsl.Value // highest priority first
}

// entry returns the key at a path. ok is false if it is not written.
func (n part) entry(path ...string) (dsl.Entry, bool) {
	for _, layer := range n.layers {
		if e, ok := entryOf(layer, path...); ok {
			return e, true
		}
	}
	return dsl.Entry{}, false
}

// text returns a scalar as written, or the given default if it is not written.
func (n part) text(unwritten string, path ...string) string {
	if e, ok := n.entry(path...); ok {
		return e.Value.Text()
	}
	return unwritten
}

// entryOf returns the entry at a path of keys. A null counts as not written.
func entryOf(v dsl.Value, path ...string) (dsl.Entry, bool) {
	if len(path) == 0 {
		return dsl.Entry{}, false
	}
	last := len(path) - 1
	for _, e := range v.Get(path[:last]...).Entries() {
		if e.Key == path[last] && !e.Value.IsNull() {
			return e, true
		}
	}
	return dsl.Entry{}, false
}

// written reports whether the spec defines its graph.
func written(p *dsl.Pass) bool { return p.Spec.Tree().Get("graph").IsMapping() }

// parts returns the nodes of the graph. For the default graph these are the
// roles, including a reflector and a finalizer that no edge leads to.
func parts(p *dsl.Pass) []part {
	tree := p.Spec.Tree()
	if !written(p) {
		out := make([]part, len(language.Roles))
		for i, role := range language.Roles {
			out[i] = part{role, role, []dsl.Value{tree.Get(role)}}
		}
		return out
	}
	var out []part
	for _, v := range tree.Get("graph", "nodes").Items() {
		n := part{v.Get("id").Text(), v.Get("type").Text(), []dsl.Value{v}}
		if slices.Contains(language.Roles, n.typ) {
			n.layers = append(n.layers, tree.Get(n.typ))
		}
		out = append(out, n)
	}
	return out
}

// first returns the first node that fills a role. If the graph has none, it
// returns the section of the role, which other nodes read in part.
func first(p *dsl.Pass, role string) (n part, inGraph bool) {
	all := parts(p)
	if i := slices.IndexFunc(all, func(n part) bool { return fillsRole[role](p.Program, n.id) }); i >= 0 {
		return all[i], true
	}
	return part{role, role, []dsl.Value{p.Spec.Tree().Get(role)}}, false
}

// agents reports whether runs of this spec call another spec.
func agents(p *dsl.Pass) bool { return len(p.Program.Agents) > 0 }
