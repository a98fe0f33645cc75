// Package interval evaluates expressions on ranges instead of values: what can
// be said about a condition before a run.
//
//	OfSchema, OfType, TypeBounds --> Range of each name
//	Decide(source, Env, Bounds)  --> Never, Always or Unknown
//	UnknownWords                 --> comparisons with texts that a value never is
//	Misuses                      --> uses of tool arguments that cannot be right
//
// A Range is wider than the values that are possible, never narrower: Never and
// Always are certain, Unknown says nothing.
//
// Comparisons, logic, lists and their lengths have bounds; results of arithmetic
// and of functions on texts have none.
//
// The package must not know specs, places or diagnostics.
package interval
