// Package graph holds a directed graph of named nodes whose edges carry guards
// and are tried in the order written.
//
//	g := &graph.Graph[Guard]{Start: ..., Nodes: ..., Edges: ...}; g.Check()
//	walk: for each edge of g.From(node): first whose guard holds wins
//	show: g.Draw(walk or nil) --> Drawing --> Mermaid, DOT, JSON
//	      Drawing --measure, arrange (ranks, order, places)--> SVG
//
// It must not know what a node does or what a guard is made of.
package graph
