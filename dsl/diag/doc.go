// Package diag represents mistakes in a spec for its author.
//
//	phases of dsl --Diagnostic--> List --Sort--> text with source line and caret, JSON,
//	                                             SARIF, or GitHub annotations
//	codes/PEXnnn.md --Explain--> title, meaning, a wrong and a right example
//
// A Diagnostic is a mistake of the author: it has a code (PEX012) that `pexctl
// explain` describes, a position, and a hint if the fix is known. All mistakes
// are reported, not only the first.
//
// The package must not know YAML, nor how a mistake was found.
package diag
