// Package diagram draws programs: the graph of a program with notes about each node, and
// the path of a run.
//
//	diagram.Draw(program, walk or nil) --> *graph.Drawing --> SVG, Mermaid, DOT, text, JSON
//
// Models, agents and tools come from the worst case of nodes (engine.Bounded), guards
// from the program, and everything else from engine.Describer. The package must not know
// the types of nodes.
package diagram
