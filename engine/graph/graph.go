package graph

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
)

// End is the id of the implicit last node.
const End = "end"

// Node is a named node of some type.
type Node struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

// Edge leads to another node if its condition holds. Label is the source of the
// condition; "" always holds, and Guard is not used then.
type Edge[G any] struct {
	From, To string
	Label    string
	Guard    G
	Each     bool // the condition is evaluated for each step that ended since the last review
}

// Graph is a list of nodes and edges. Start is where a walk begins. It must not be
// modified once checked.
type Graph[G any] struct {
	Start string
	Nodes []Node
	Edges []Edge[G]
	from  atomic.Pointer[map[string][]Edge[G]] // nil = not indexed yet
}

// From returns the edges of a node in order.
func (g *Graph[G]) From(id string) []Edge[G] {
	from := g.from.Load()
	if from == nil {
		from = g.index() // concurrent runs may each build it
	}
	return (*from)[id]
}

func (g *Graph[G]) index() *map[string][]Edge[G] {
	from := make(map[string][]Edge[G], len(g.Nodes))
	for _, e := range g.Edges {
		from[e.From] = append(from[e.From], e)
	}
	g.from.Store(&from)
	return &from
}

// Has reports whether a node exists; End always does.
func (g *Graph[G]) Has(id string) bool {
	return id == End || slices.ContainsFunc(g.Nodes, func(n Node) bool { return n.ID == id })
}

// Check indexes the graph and reports all errors: unknown nodes, a node whose last edge
// is conditional, edges after an unconditional one, unreachable nodes.
func (g *Graph[G]) Check() error {
	g.index()
	var errs []error
	if !g.Has(g.Start) || g.Start == End {
		errs = append(errs, fmt.Errorf("start node %q does not exist", g.Start))
	}
	for _, e := range g.Edges {
		for _, id := range []string{e.From, e.To} {
			if !g.Has(id) || id == End && id == e.From {
				errs = append(errs, fmt.Errorf("edge %s -> %s: node %q does not exist", e.From, e.To, id))
			}
		}
	}
	reached := g.reach()
	for _, n := range g.Nodes {
		errs = append(errs, g.checkEdges(n.ID)...)
		if !reached[n.ID] {
			errs = append(errs, fmt.Errorf("node %q cannot be reached from %q", n.ID, g.Start))
		}
	}
	return errors.Join(errs...)
}

func (g *Graph[G]) checkEdges(id string) []error {
	edges := g.From(id)
	if len(edges) == 0 {
		return nil // ends the walk
	}
	var errs []error
	for i, e := range edges {
		last := i == len(edges)-1
		if last && e.Label != "" {
			errs = append(errs, fmt.Errorf("node %q: its last edge (to %q) must have no guard", id, e.To))
		}
		if !last && e.Label == "" {
			errs = append(errs, fmt.Errorf("node %q: the edge to %q has no guard, so the ones after it are never tried", id, e.To))
		}
	}
	return errs
}

func (g *Graph[G]) reach() map[string]bool {
	seen := map[string]bool{g.Start: true}
	for todo := []string{g.Start}; len(todo) > 0; todo = todo[1:] {
		for _, e := range g.From(todo[0]) {
			if !seen[e.To] {
				seen[e.To] = true
				todo = append(todo, e.To)
			}
		}
	}
	return seen
}
