// Package dsl compiles specs and never runs them.
//
//	path --load--> YAML values with positions --include, override--> one tree
//	     --decode--> the language's structs and the components' Configs, references compiled
//	     --check--> policy --lower--> *engine.Program
//
// Callers use Load (a spec and everything that is wrong with it), Compile (a
// Program to run), Recompile (a Program from the Source that a run kept) and
// Inputs (the values of a run's parameters). LoadTests and LoadSuite read files of
// kind Tests and Suite, FindTests finds the tests of a spec, Walk all specs and
// tests below a folder, and Programs compiles the specs that tests and suites
// name, each once. Vet takes a file of any kind. Format, Schema and Reference
// serve editors and docs.
//
// All mistakes are reported as a diag.List, never only the first. Nothing is
// executed, and no file outside the project root is opened. Options.Catalog has
// the components that specs may name, Options.Checks the checks of suites: a new
// one needs no change here.
//
// The package must not know any component, provider or flag.
package dsl
