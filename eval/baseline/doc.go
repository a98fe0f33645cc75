// Package baseline is what later evaluations are compared with: what each case
// came to once, in a file that people commit.
//
//	a report --fold.Baseline--> File --Write--> suite.baseline.json --Read--> File --fold--> comparison
//
// The file holds figures only, no outputs; each case is a line of its own, in
// the order of the dataset, so that a diff in git shows what moved. The package
// must not know git, nor how an evaluation is compared with the file.
package baseline
