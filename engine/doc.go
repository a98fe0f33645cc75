// Package engine defines compiled programs and how they run.
//
//	Program + Input + Host --runtime.Run--> nodes, one after another along the graph
//	a node --Scope--> effects (model, tool, human, timer) --journal--> results
//	Scope.Record(Fact) --> State, and Events for observers
//	State at the end --> Result
//
// All side effects go through a Scope and are journaled. An interrupted run is replayed:
// the journal supplies the results that are already known. engine/kernel implements this,
// engine/journal stores the records, engine/runtime runs programs.
//
// Nodes are found by capability (Planner, PlanReviewer, StepRunner, Finalizer), never by
// type or id.
//
// The package must not know YAML, HTTP, flags, stores or providers. It imports only the
// standard library and its own sub-packages.
package engine
