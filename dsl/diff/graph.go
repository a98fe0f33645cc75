package diff

import (
	"slices"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/engine/graph"
)

// wiring are the keys that decide what the default graph is.
var wiring = []string{"strategy", "when", "triggers"}

// graph is how nodes follow each other: what is written, and the edges that come
// of it.
func (c *comparison) graph() {
	for _, key := range wiring {
		c.walk(language.Reflector+"."+key, c.old.tree.Get(language.Reflector, key), c.now.tree.Get(language.Reflector, key))
	}
	a, b := byName(c.old.tree.Get("graph", "nodes")), byName(c.now.tree.Get("graph", "nodes"))
	for _, id := range append(names(b), without(names(a), names(b))...) {
		c.node("graph.nodes."+id, find(a, id).Value, find(b, id).Value)
	}
	if c.old.program == nil && c.now.program == nil {
		return
	}
	c.walk("graph.start", c.old.tree.Get("graph", "start"), c.now.tree.Get("graph", "start"))
	c.nodes(a, b)
	c.edges()
}

// node compares what is written of a node. One of another type is another node.
func (c *comparison) node(path string, a, b dsl.Value) {
	if !a.Exists() || !b.Exists() {
		c.meetIn(path, a, b)
		return
	}
	for _, key := range keysOf(a, b) {
		if key != "type" {
			c.walk(path+"."+key, a.Get(key), b.Get(key))
		}
	}
}

// nodes are those that came into the graph, or left it.
func (c *comparison) nodes(a, b []dsl.Entry) {
	was, is := c.old.nodes(), c.now.nodes()
	if (was == nil || is == nil) && len(a)+len(b) == 0 {
		return // the default graph of a spec that is new, or gone
	}
	for _, n := range is {
		if !slices.Contains(was, n) {
			c.add(Change{Path: "graph.nodes." + n.ID, What: Added, New: n.Type, At: placeOf(find(b, n.ID).Place)})
		}
	}
	for _, n := range was {
		if !slices.Contains(is, n) {
			c.add(Change{Path: "graph.nodes." + n.ID, What: Removed, Old: n.Type, Was: placeOf(find(a, n.ID).Place)})
		}
	}
}

func (s *side) nodes() []graph.Node {
	if s.program == nil {
		return nil
	}
	return s.program.Graph.Nodes
}

// way is an edge.
type way struct {
	from, to, when string
	each           bool
}

func (w way) String() string {
	text := w.from + " → " + w.to
	if w.when != "" {
		text += " when " + w.when
	}
	if w.each {
		text += ", for each new step"
	}
	return text
}

func (s *side) ways() []way {
	if s.program == nil {
		return nil
	}
	var out []way
	for _, e := range s.program.Graph.Edges {
		out = append(out, way{e.From, e.To, e.Label, e.Each})
	}
	return out
}

// edges are those that came and went, and nodes whose edges are tried in another
// order. Those of a new spec are not listed: they are the default, or are in
// the file.
func (c *comparison) edges() {
	if c.old.program == nil || c.now.program == nil {
		return
	}
	was, is := c.old.ways(), c.now.ways()
	for i, w := range is {
		if !slices.Contains(was, w) {
			c.add(Change{Path: "graph.edges", What: Added, New: w.String(), At: c.now.edge(i)})
		}
	}
	for i, w := range was {
		if !slices.Contains(is, w) {
			c.add(Change{Path: "graph.edges", What: Removed, Old: w.String(), Was: c.old.edge(i)})
		}
	}
	for _, n := range c.now.program.Graph.Nodes {
		c.order("graph.edges."+n.ID, "the order changed", leaving(was, n.ID), leaving(is, n.ID), c.now.tree.Get("graph", "edges"))
	}
}

// edge is where an edge is written; "" = the default graph has it.
func (s *side) edge(i int) string {
	if items := s.tree.Get("graph", "edges").Items(); i < len(items) {
		return placeOf(items[i].Place())
	}
	return placeOf(s.tree.Get(language.Reflector, "strategy").Place())
}

func leaving(all []way, id string) []string {
	var out []string
	for _, w := range all {
		if w.from == id {
			out = append(out, w.String())
		}
	}
	return out
}

// roles is what else is said of the nodes that are always there.
func (c *comparison) roles() {
	for _, role := range language.Roles {
		a, b := c.old.tree.Get(role), c.now.tree.Get(role)
		for _, key := range keysOf(a, b) {
			if role != language.Reflector || !slices.Contains(wiring, key) {
				c.walk(role+"."+key, a.Get(key), b.Get(key))
			}
		}
	}
	for i := range c.changes {
		c.grants(&c.changes[i])
	}
}

// grants tells whether the executor may use more tools than before, and whether
// a person sees less.
func (c *comparison) grants(x *Change) {
	if c.old.spec == nil || c.now.spec == nil {
		return
	}
	a, b := c.old.tree.Get(language.Executor), c.now.tree.Get(language.Executor)
	switch x.Path {
	case language.Executor + ".tools":
		x.Effect = wider(a.Get("tools"), b.Get("tools"), true)
	case language.Executor + ".exclude_tools":
		x.Effect = wider(b.Get("exclude_tools"), a.Get("exclude_tools"), false)
	case language.Planner + ".approval":
		if x.Effect = asking(first(x.Old, "never"), first(x.New, "never")); x.Effect == Looser {
			x.Note = "humans review fewer plans before they run"
		}
	case language.Executor + ".verify":
		x.Effect = asking(never(x.Old), never(x.New))
	}
}

func never(verify string) string {
	if verify == "none" || verify == "" {
		return "never"
	}
	return verify
}

// wider says whether a list grew or shrank; all = one that is not there is of
// everything, otherwise of nothing.
func wider(a, b dsl.Value, all bool) Effect {
	come, gone := len(without(texts(b), texts(a))) > 0, len(without(texts(a), texts(b))) > 0
	if all && !a.Exists() {
		come, gone = false, true
	}
	if all && !b.Exists() {
		come, gone = true, false
	}
	switch {
	case come && !gone:
		return Looser
	case gone && !come:
		return Safer
	case come:
		return Looser // what came is what a reviewer looks for
	}
	return ""
}

// asking says whether a person is asked less or more.
func asking(before, after string) Effect {
	rank := map[string]int{"never": -1, "always": 1}
	switch {
	case rank[after] < rank[before]:
		return Looser
	case rank[after] > rank[before]:
		return Safer
	}
	return ""
}
