// Package report computes the report of an evaluation from its rows.
//
//	rows --fold--> rates, intervals, spreads, cases
//	     --baseline--> paired comparison, changes
//	     --gates--> verdict, exit code
//
// A report is a function of rows, manifest, baseline and gates: the same rows in any order produce the same bytes.
// The statistics are in eval/stat. The package must not know how reports are rendered or how trials run.
package report
