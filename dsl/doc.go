// Package dsl compiles specs and never runs them.
//
//	path --load--> YAML values with positions --include, override--> one tree
//	     --decode--> the language's structs and the components' Configs, references compiled
//	     --check--> policy --lower--> *engine.Program
//
// Callers use Load (everything a spec gets wrong), Compile (a Program to run),
// Recompile (a Program from the Source that a run kept) and Inputs (the values of
// a run's parameters). LoadTests and LoadSuite read what tests and evaluates
// specs, FindTests and Walk find it, Programs compiles what it is of, and Vet
// takes a file of any kind. Format, Schema and Reference serve editors and docs.
//
// All mistakes are reported as a diag.List, never only the first. Nothing is
// executed, and no file outside the project root is opened. Which components
// there are is told by Options.Catalog, and which checks by Options.Checks: a
// new one needs no change here.
//
// The package must not know any component, provider or flag.
package dsl
