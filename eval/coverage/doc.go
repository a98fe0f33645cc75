// Package coverage computes test coverage of a program.
//
//	New(program) -> Map --Trace (runtime.Tracer, during runs)--> Map --Report--> covered and uncovered items by kind
//
// What can be covered follows from the program: the edges of its graph, its guards, its
// tools and its limits; the engine's repairs are the same for all programs. Prompts
// rendered without a run cover nothing.
//
// The package must not know how runs are made, or report formats.
package coverage
