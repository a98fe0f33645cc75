package dsl

import (
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/dsl/config"
	"github.com/pexctl/pex/dsl/diag"
	"github.com/pexctl/pex/dsl/language"
	"github.com/pexctl/pex/dsl/syntax"
	"github.com/pexctl/pex/engine"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/graph"
)

// defaultGraph builds the graph of the reflector's strategy. Roles that no edge
// reaches are not part of it, but stay in the program because other nodes use
// them.
func (c *compiler) defaultGraph(all []builtNode, w engine.GraphSpec) {
	for _, n := range w.Nodes {
		b := builtNode{n.ID, n.Type, n.Config, c.BuiltIn("")}
		c.BindDefaults(config.Struct(n.Config), "")
		all = append(all, b)
	}
	g := &graph.Graph[engine.Condition]{Start: language.Planner}
	reached := map[string]bool{language.Planner: true}
	for _, e := range w.Edges {
		reached[e.To] = true
	}
	for _, b := range all {
		c.add(b, w.Batch)
		if reached[b.id] {
			g.Nodes = append(g.Nodes, graph.Node{ID: b.id, Type: b.typ})
		}
	}
	for _, e := range w.Edges {
		if reached[e.From] {
			g.Edges = append(g.Edges, c.wireEdge(e))
		}
	}
	c.graph(g, all, c.tree.Position)
}

func (c *compiler) wireEdge(e engine.EdgeSpec) graph.Edge[engine.Condition] {
	out := graph.Edge[engine.Condition]{From: e.From, To: e.To, Each: e.PerEndedStep}
	if e.When.IsZero() {
		return out
	}
	place := "edge"
	if e.PerEndedStep {
		place = "reflector_when"
	}
	env, _ := c.GuardEnv(place)
	if !c.Report.List.Failed() { // otherwise an expression of the author may be reported twice
		c.CompileExpression(c.BuiltIn(e.When.Source), env, nil, &e.When)
	}
	out.Label, out.Guard = e.When.Source, e.When
	return out
}

// writtenGraph builds the graph of the section graph. A node of a role starts
// with the role's section, and its own keys override it.
func (c *compiler) writtenGraph(top []builtNode) {
	var k language.GraphKeys
	c.Decode(c.doc.Graph, "graph", &k)
	var all []builtNode
	for i, v := range k.Nodes {
		if b, ok := c.graphNode(v, i, top, all); ok {
			all = append(all, b)
		}
	}
	if len(all) == 0 {
		return
	}
	if k.Start == "" {
		k.Start = all[0].id
	}
	c.checkToolNames(all)
	take := batchSizeOf(all)
	before := len(c.Report.List)
	c.checkEdges(&k, all)
	g := &graph.Graph[engine.Condition]{Start: k.Start}
	for _, b := range all {
		c.add(b, take)
		g.Nodes = append(g.Nodes, graph.Node{ID: b.id, Type: b.typ})
	}
	for _, e := range k.Edges {
		edge := graph.Edge[engine.Condition]{From: e.From, To: e.To}
		if !e.When.IsZero() {
			edge.Label, edge.Guard = e.When.Source, e.When
		}
		g.Edges = append(g.Edges, edge)
	}
	for _, b := range top {
		if !slices.ContainsFunc(all, func(n builtNode) bool { return n.id == b.id }) && b.typ != language.Reflector {
			c.add(b, take)
		}
	}
	if !c.Report.FailedSince(before) {
		c.graph(g, append(all, top...), c.doc.Graph.Position)
	}
}

func (c *compiler) graphNode(v *syntax.Node, i int, top, before []builtNode) (builtNode, bool) {
	path := "graph.nodes[" + strconv.Itoa(i) + "]"
	if v.Kind != syntax.Map {
		c.WrongType(v, path, "a mapping with the keys id and type")
		return builtNode{}, false
	}
	keys := v.Shallow()
	keys.Entries = slices.DeleteFunc(keys.Entries, func(e *syntax.Entry) bool { return e.Key != "id" && e.Key != "type" })
	var k language.NodeKeys
	c.Decode(keys, path, &k)
	id := v.Find("id")
	switch {
	case k.ID == "" || k.Type == "":
		return builtNode{}, false
	case !config.NamePattern().MatchString(k.ID) || k.ID == engine.End:
		c.Report.Error(diag.BadName, id.Value.Position, "invalid node id %s", syntax.Quote(k.ID)).Hint = "an id contains only letters, digits, _ and -; end is reserved for the end of the graph"
		return builtNode{}, false
	case slices.Contains(language.Roles, k.ID) && k.Type != k.ID:
		c.Report.Error(diag.BadName, id.Value.Position, "the id %s is reserved for the %s; this node has type %s", syntax.Quote(k.ID), k.ID, k.Type).Hint = "choose another id"
		return builtNode{}, false
	case slices.ContainsFunc(before, func(b builtNode) bool { return b.id == k.ID }):
		c.Report.Error(diag.BadGraph, id.Value.Position, "two nodes have the id %q", k.ID)
		return builtNode{}, false
	}
	b := builtNode{k.ID, k.Type, c.config(k.Type, v.Get("type").Position), v}
	if b.config == nil {
		return b, true
	}
	own := v.Shallow()
	own.Drop("id", "type")
	path = "graph.nodes." + k.ID
	if r := slices.IndexFunc(top, func(t builtNode) bool { return t.typ == k.Type }); r >= 0 {
		own = top[r].value.Overlay(own)
	}
	own.Position = v.Position
	c.Decode(own, path, b.config)
	return b, true
}

// checkEdges reports mistakes of the written edges at their places.
func (c *compiler) checkEdges(k *language.GraphKeys, all []builtNode) {
	ids := []string{engine.End}
	for _, b := range all {
		ids = append(ids, b.id)
	}
	edges := c.doc.Graph.Get("edges")
	if !slices.Contains(ids[1:], k.Start) {
		c.Report.Error(diag.BadGraph, c.doc.Graph.Get("start").Position, "graph.start: undefined node %s", syntax.Quote(k.Start)).Advice = diag.Suggest(k.Start, ids[1:])
	}
	last := map[string]int{}
	for i, e := range k.Edges {
		at := edges.Items[i]
		c.checkEnd(at, "from", e.From, ids[1:])
		c.checkEnd(at, "to", e.To, ids)
		if before, ok := last[e.From]; ok && k.Edges[before].When.IsZero() {
			c.Report.Error(diag.BadGraph, at.Position, "this edge is never taken: the earlier edge from %s to %s has no condition", e.From, k.Edges[before].To).
				Hint = "edges are tried in order; move the edge without when to the end"
		}
		last[e.From] = i
	}
	for _, b := range all {
		if i, ok := last[b.id]; ok && !k.Edges[i].When.IsZero() {
			c.Report.Error(diag.BadGraph, edges.Items[i].Position, "the last edge of the node %q has a condition, so the run may have nowhere to go", b.id).
				Hint = "add an edge from " + b.id + " without when after it"
		}
	}
	if slices.Contains(ids[1:], k.Start) {
		c.checkReached(k, all)
	}
}

func (c *compiler) checkEnd(at *syntax.Node, key, id string, ids []string) {
	if id == "" || slices.Contains(ids, id) {
		return
	}
	d := c.Report.Error(diag.BadGraph, at.Get(key).Position, "undefined node %s", syntax.Quote(id))
	if d.Advice = diag.Suggest(id, ids); id == engine.End {
		d.Advice = diag.Advice{Hint: "an edge cannot start at end"}
	}
}

func (c *compiler) checkReached(k *language.GraphKeys, all []builtNode) {
	reached := map[string]bool{k.Start: true}
	for todo := []string{k.Start}; len(todo) > 0; todo = todo[1:] {
		for _, e := range k.Edges {
			if e.From == todo[0] && !reached[e.To] {
				reached[e.To] = true
				todo = append(todo, e.To)
			}
		}
	}
	for _, b := range all {
		if !reached[b.id] {
			c.Report.Error(diag.BadGraph, b.value.Position, "the node %q cannot be reached from the start node %q", b.id, k.Start).Hint = "add an edge to it, or remove it"
		}
	}
}

// graph checks a graph as a whole and adds it to the program.
func (c *compiler) graph(g *graph.Graph[engine.Condition], all []builtNode, at syntax.Position) {
	c.checkUse(modelsOf(all))
	if c.Report.List.Failed() {
		return
	}
	if err := g.Check(); err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			c.Report.Error(diag.BadGraph, at, "%s", line)
		}
		return
	}
	c.program.Graph = g
}

var _ engine.Condition = component.GuardRef{}
