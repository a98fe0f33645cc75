// Package graph holds a directed graph of named nodes whose edges carry guards
// and are tried in the order written.
//
//	g := graph.New[Guard](start); g.AddNode(...); g.AddEdge(...); g.Check()
//	walk: for each edge of g.From(node): first whose guard holds wins
//	show: Mermaid, DOT, JSON
//
// It must not know what a node does or what a guard is made of.
package graph
