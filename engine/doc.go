// Package engine runs compiled programs.
//
//	Program + Input + Host --Run--> nodes, one after another along the graph
//	a node --Scope--> effects (model, tool, person, timer) --journal--> results
//	Scope.Record(Fact) --> State, and Events for people
//	State at the end --> Result
//
// Everything that touches the world goes through a Scope and is journaled; a
// run that was cut anywhere is run again and its journal answers what is
// already known. The kernel that does so is engine/kernel, the files are
// engine/journal.
//
// A node is found by what it can do (Planner, PlanReviewer, StepRunner, Finalizer),
// never by its type or id.
//
// It must not know YAML, HTTP, flags, any store, any provider: it imports the
// standard library only, and its own sub-packages.
package engine
