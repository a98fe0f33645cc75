// Package baseline reads and writes baselines: the results of each case, committed for
// comparison with later evaluations.
//
//	a report --report.Baseline--> File --Write--> suite.baseline.json --Read--> File --report.New--> comparison
//
// The file has figures only, no outputs. Each case is one line, in dataset order, so that
// git diffs show what changed. The package must not know git, nor how evaluations are
// compared.
package baseline
