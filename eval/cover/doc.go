// Package cover tells what the tests of a program exercised of it.
//
//	New(program) -> Map --Trace (runtime.Tracer, during runs)--> Map --Report--> per kind: what was seen, what never
//
// What can be exercised is read off the program: the edges of its graph, its
// guards, its tools, and the limits it sets; the ways out that the engine takes
// when something goes wrong are the same for all. Prompts rendered without a
// run exercise nothing.
//
// The package must not know how a run is made, or how a report looks.
package cover
