// Package graph implements directed graphs of named nodes. Edges have conditions, which
// are evaluated in order.
//
//	g := &graph.Graph[Guard]{Start: ..., Nodes: ..., Edges: ...}; g.Check()
//	walk: for each edge of g.From(node): the first whose condition holds is taken
//	show: g.Draw(walk or nil) --> Drawing --> Mermaid, DOT, JSON
//	Drawing --measure, arrange (ranks, order, positions)--> SVG
//
// The package must not know what a node does or how conditions work.
package graph
