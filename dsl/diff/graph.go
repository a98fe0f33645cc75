package diff

import (
	"slices"

	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/engine/graph"
)

// wiring are the keys that determine the default graph.
var wiring = []string{"strategy", "when", "triggers"}

// graph compares the order of nodes: the keys as written, and the resulting
// edges.
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

// node compares the keys of a node. A node of another type is another node.
func (c *comparison) node(path string, a, b dsl.Value) {
	if !a.Exists() || !b.Exists() {
		c.recordCalls(path, a, b)
		return
	}
	for _, key := range keysOf(a, b) {
		if key != "type" {
			c.walk(path+"."+key, a.Get(key), b.Get(key))
		}
	}
}

// nodes reports added and removed nodes.
func (c *comparison) nodes(a, b []dsl.Entry) {
	was, is := c.old.nodes(), c.now.nodes()
	if (was == nil || is == nil) && len(a)+len(b) == 0 {
		return // the default graph of an added or removed spec
	}
	for _, n := range is {
		if !slices.Contains(was, n) {
			c.add(Change{Path: "graph.nodes." + n.ID, Kind: Added, New: n.Type, At: placeOf(find(b, n.ID).Place)})
		}
	}
	for _, n := range was {
		if !slices.Contains(is, n) {
			c.add(Change{Path: "graph.nodes." + n.ID, Kind: Removed, Old: n.Type, OldAt: placeOf(find(a, n.ID).Place)})
		}
	}
}

func (s *side) nodes() []graph.Node {
	if s.program == nil {
		return nil
	}
	return s.program.Graph.Nodes
}

// graphEdge is an edge.
type graphEdge struct {
	from, to, when string
	each           bool
}

func (w graphEdge) String() string {
	text := w.from + " → " + w.to
	if w.when != "" {
		text += " when " + w.when
	}
	if w.each {
		text += ", for each new step"
	}
	return text
}

func (s *side) ways() []graphEdge {
	if s.program == nil {
		return nil
	}
	var out []graphEdge
	for _, e := range s.program.Graph.Edges {
		out = append(out, graphEdge{e.From, e.To, e.Label, e.Each})
	}
	return out
}

// edges reports added and removed edges, and nodes whose edges are evaluated in
// another order. It does not list the edges of an added spec, which are the
// default or in the file.
func (c *comparison) edges() {
	if c.old.program == nil || c.now.program == nil {
		return
	}
	was, is := c.old.ways(), c.now.ways()
	for i, w := range is {
		if !slices.Contains(was, w) {
			c.add(Change{Path: "graph.edges", Kind: Added, New: w.String(), At: c.now.edge(i)})
		}
	}
	for i, w := range was {
		if !slices.Contains(is, w) {
			c.add(Change{Path: "graph.edges", Kind: Removed, Old: w.String(), OldAt: c.old.edge(i)})
		}
	}
	for _, n := range c.now.program.Graph.Nodes {
		c.order("graph.edges."+n.ID, "the order changed", leaving(was, n.ID), leaving(is, n.ID), c.now.tree.Get("graph", "edges"))
	}
}

// edge returns the path of an edge; "" if it is part of the default graph.
func (s *side) edge(i int) string {
	if items := s.tree.Get("graph", "edges").Items(); i < len(items) {
		return placeOf(items[i].Place())
	}
	return placeOf(s.tree.Get(language.Reflector, "strategy").Place())
}

func leaving(all []graphEdge, id string) []string {
	var out []string
	for _, w := range all {
		if w.from == id {
			out = append(out, w.String())
		}
	}
	return out
}

// roles compares the other settings of the nodes that always exist.
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

// grants determines whether the executor may use more tools than before, and
// whether approvals are asked less often.
func (c *comparison) grants(x *Change) {
	if c.old.spec == nil || c.now.spec == nil {
		return
	}
	a, b := c.old.tree.Get(language.Executor), c.now.tree.Get(language.Executor)
	switch x.Path {
	case language.Executor + ".tools":
		x.Effect = listEffect(a.Get("tools"), b.Get("tools"), true)
	case language.Executor + ".exclude_tools":
		x.Effect = listEffect(b.Get("exclude_tools"), a.Get("exclude_tools"), false)
	case language.Planner + ".approval":
		if x.Effect = approvalEffect(first(x.Old, "never"), first(x.New, "never")); x.Effect == Looser {
			x.Note = "humans review fewer plans before they run"
		}
	case language.Executor + ".verify":
		x.Effect = approvalEffect(never(x.Old), never(x.New))
	}
}

func never(verify string) string {
	if verify == "none" || verify == "" {
		return "never"
	}
	return verify
}

// listEffect reports whether a list grew or shrank. all means that a missing list
// stands for everything, not for nothing.
func listEffect(a, b dsl.Value, all bool) Effect {
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
		return Looser // the added entries matter to a reviewer
	}
	return ""
}

// approvalEffect reports whether a human is asked less or more often.
func approvalEffect(before, after string) Effect {
	rank := map[string]int{"never": -1, "always": 1}
	switch {
	case rank[after] < rank[before]:
		return Looser
	case rank[after] > rank[before]:
		return Safer
	}
	return ""
}
