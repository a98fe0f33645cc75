// Package trial defines the terms of tests and batch evaluations: the subject of a trial,
// the checks that grade it, and the row that stores it.
//
//	a trial (case, variant, repeat) --runtime.Run--> Subject --Check--> Marks --> Row
//
// Package report derives all figures from rows. A kind of check is one file of
// builtins/assertion. The package must not know YAML, flags, providers, or report
// formats.
package trial
