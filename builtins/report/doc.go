// Package report writes reports of evaluations and of tests.
//
//	report.Report + rows --> table, json, jsonl, csv, markdown, junit, github, html
//	report.TestReport    --> json, markdown, junit, github
//	two reports          --> table, json, markdown
//	trial.Progress       --> Live on a terminal, Lines elsewhere
//
// Each format has one file and one line in all.go. The output is a deterministic function
// of the input. Texts of models, tools and datasets are untrusted: no format lets them
// become markup, commands, formulas or escape sequences.
//
// The package must not depend on how trials run, how statistics are computed, or where
// the output goes.
package report
