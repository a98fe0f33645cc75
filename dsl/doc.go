// Package dsl compiles specs and never runs them.
//
//	path --specfs--> file --syntax--> tree --include, extends, override--> one tree
//	     --config--> the structs of package language and the components' Configs
//	     --compiler: llms, tools, guards, nodes, graph--> *engine.Program
//	tests and suites --testspec, suitespec--> checked against the specs they are of
//
// Callers use Load (a spec and everything that is wrong with it), Compile (a
// Program to run), Recompile (a Program from the Source that a run kept) and
// Inputs (the values of a run's parameters). LoadTests, LoadSuite and LoadPrices
// read files of the other kinds; Programs compiles the specs that tests and suites
// name, each once. Vet takes a file of any kind, and Format lays one out.
//
// All mistakes are reported as a diag.List, never only the first. Nothing is
// executed, and no file outside the project root is opened. Options.Catalog has
// the components that specs may name, Options.Checks the checks of suites: a new
// one needs no change here.
//
// The package must not know any component, provider or flag.
package dsl
