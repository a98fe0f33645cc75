// Package report writes what an evaluation, or the tests of specs, came to.
//
//	fold.Report + rows --> table, json, jsonl, csv, markdown, junit, github
//	fold.TestReport    --> json, markdown, junit, github
//	two reports        --> table, json, markdown
//	trial.Progress     --> Live on a terminal, Lines elsewhere
//
// A format is one file, listed in all.go. What is written is a function of what
// is given, to the byte. Texts of models, tools and datasets are hostile: no
// format lets them become markup, commands, formulas or escape sequences.
//
// The package must not know how trials are run, how figures are made, or where
// the bytes go.
package report
