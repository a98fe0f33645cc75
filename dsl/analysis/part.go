package analysis

import (
	"slices"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/engine"
)

// has says which nodes take the place of a role, whatever their type.
var has = map[string]func(*engine.Program, string) bool{
	language.Planner:   engine.NodeIs[engine.Planner],
	language.Executor:  engine.NodeIs[engine.StepRunner],
	language.Reflector: engine.NodeIs[engine.PlanReviewer],
}

// part is a node as it is written: in a written graph the keys of the node over
// those of its role's section, else the section alone.
type part struct {
	id, typ string
	layers  []dsl.Value // the strongest first
}

// entry finds a key by its path; ok is false if it is not written.
func (n part) entry(path ...string) (dsl.Entry, bool) {
	for _, layer := range n.layers {
		if e, ok := entryOf(layer, path...); ok {
			return e, true
		}
	}
	return dsl.Entry{}, false
}

// text is a scalar as it is written, or what holds if it is not written.
func (n part) text(unwritten string, path ...string) string {
	if e, ok := n.entry(path...); ok {
		return e.Value.Text()
	}
	return unwritten
}

// entryOf is the entry that a path of keys leads to. A null counts as not
// written.
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

// written says whether the spec writes its graph out.
func written(p *dsl.Pass) bool { return p.Spec.Tree().Get("graph").IsMapping() }

// parts are the nodes of the graph. Of the default graph these are the roles:
// reflector and finalizer too where no edge leads to them.
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

// first is the first node that takes the place of a role. Where the graph has none
// it is the role's section, of which other nodes take a part.
func first(p *dsl.Pass, role string) (n part, inGraph bool) {
	all := parts(p)
	if i := slices.IndexFunc(all, func(n part) bool { return has[role](p.Program, n.id) }); i >= 0 {
		return all[i], true
	}
	return part{role, role, []dsl.Value{p.Spec.Tree().Get(role)}}, false
}

// agents says whether another spec plays a part in runs of this one.
func agents(p *dsl.Pass) bool { return len(p.Program.Agents) > 0 }
