// Package interval evaluates expressions on ranges instead of values, to decide
// conditions before a run.
//
//	OfSchema, OfType, TypeBounds --> Range of each name
//	Decide(source, Env, Bounds)  --> Never, Always or Unknown
//	UnknownWords                 --> comparisons with texts that a value never is
//	Misuses                      --> uses of tool arguments that are certainly wrong
//
// A Range contains all possible values and may contain more: Never and Always are
// certain.
//
// Comparisons, logic, lists and their lengths have bounds. Results of arithmetic
// and of functions on texts do not.
//
// The package must not know specs, places or diagnostics.
package interval
