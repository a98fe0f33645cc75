// Package syntax reads YAML and JSON into a tree whose nodes know their position,
// and collects the diagnostics that point into it.
//
//	Source --Parse--> *Node (aliases expanded, merge keys applied, bounds checked)
//	Report <--Error, Warn-- every phase that works on the tree
//	Node.PositionAt, Source.PositionAt: byte offsets to lines and columns
//
// A Report bounds how many diagnostics a file can cause, applies the comments that
// ignore warnings, and redacts secrets from everything it shows.
//
// The package knows YAML, not the language of specs: no key, no section and no
// component has a meaning here.
package syntax
