// Package diag holds what is wrong with a spec, for the person who wrote it.
//
//	phases of dsl --Diagnostic--> List --Sort--> text with source line and caret, JSON,
//	                                             SARIF, or annotations of GitHub
//	codes/PEXnnn.md --Explain--> title, meaning, a wrong and a right example
//
// A Diagnostic is an author's mistake: it has a code (PEX012) that `pexctl
// explain` knows, a place, and a hint where we know the way out. All of them
// are reported, never only the first.
//
// It must not know YAML, nor how a mistake was found.
package diag
