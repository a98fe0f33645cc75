// Package dsl compiles specs and never runs them.
//
//	path --specfs--> file --syntax--> tree --include, extends, override--> one tree
//	     --config--> the structs of package language and the components' Configs
//	     --compiler: llms, tools, guards, nodes, graph--> *engine.Program
//	tests and suites --testspec, suitespec--> checked against their specs
//	servers --serverspec--> checked with their tokens and specs
//
// Callers use Load (a spec and all its diagnostics), Compile (a Program to run),
// Recompile (a Program from the stored Source of a run) and Inputs (the values of
// a run's parameters). LoadTests, LoadSuite, LoadPrices, LoadServer and LoadTokens
// read the other kinds of files; Programs compiles the specs that tests and suites
// name, each once. Vet accepts a file of any kind, and Format formats one.
//
// All mistakes are reported as a diag.List, not only the first. Nothing is
// executed, and no file outside the project root is opened. Options.Catalog lists
// the components that specs may name, Options.Checks the checks of suites; adding
// one needs no change here.
//
// The package must not know any component, provider or flag.
package dsl
