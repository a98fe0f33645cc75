// Package trial holds what tests and batch evaluations of agents speak of: what
// a trial gave, the checks that grade it, and the row that keeps it.
//
//	a trial (case, variant, repeat) --runtime.Run--> Subject --Check--> Marks --> Row
//
// Rows are what package fold makes every figure of; nothing else keeps one. A
// kind of check is one file of builtins/assertion. The package must not know
// YAML, flags, providers, or how a report looks.
package trial
