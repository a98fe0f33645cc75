// Package suitespec compiles files of kind: Suite, the batch evaluations of
// specs.
//
//	tree --Expand--> short forms expanded --overrides--> tree
//	tree --Compile--> Suite {Variants, Dataset, Checks, Judge, Gates, Baseline, limits}
//
// It checks parameters, checks and columns against the specs of the variants. It
// reads dataset files only for their columns.
//
// The package compiles no spec and runs nothing.
package suitespec
