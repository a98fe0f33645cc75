// Package suitespec compiles files of kind: Suite, the batch evaluations of specs.
//
//	tree --Expand--> shorthands written out --overrides--> tree
//	tree --Compile--> Suite {Variants, Dataset, Checks, Judge, Gates, Baseline, limits}
//
// Parameters, checks and columns are checked against the specs of the variants.
// Datasets in files are read only as far as their columns.
//
// The package compiles no spec and runs nothing.
package suitespec
