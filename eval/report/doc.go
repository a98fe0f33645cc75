// Package report makes the report of an evaluation of its rows.
//
//	rows --fold--> rates, intervals, spreads, cases
//	     --baseline--> paired comparison, changes
//	     --gates--> verdict, exit code
//
// A report is a function of rows, manifest, baseline and gates: whoever folds
// the same rows gets the same bytes, in whatever order they came. The
// statistics are those of eval/stat. The package must not know how a report
// looks, nor how trials are run.
package report
