// Package diagram makes pictures of programs: the graph of a program with what a
// reader wants to know of each node, and the path that a run took.
//
//	diagram.Draw(program, walk or nil) --> *graph.Drawing --> SVG, Mermaid, DOT, text, JSON
//
// Models, agents and tools come from what nodes say of their worst case
// (engine.Bounded), guards from the program, the rest from engine.Describer. It
// must not know the types of nodes.
package diagram
