// Package syntax reads YAML and JSON into a tree whose nodes know their position,
// and collects the diagnostics that refer to it.
//
//	Source --Parse--> *Node (aliases expanded, merge keys applied, limits checked)
//	Report <--Error, Warn-- every phase that works on the tree
//	Node.PositionAt, Source.PositionAt: byte offsets to lines and columns
//
// A Report limits the number of diagnostics of a file, applies comments that
// ignore warnings, and redacts secrets from everything it shows.
//
// The package knows YAML, not the language of specs: no key, section or component
// has a meaning here.
package syntax
