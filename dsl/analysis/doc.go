// Package analysis looks for what is doubtful in a spec that compiles: parts
// that nothing uses, conditions that can never hold, tools that no node can call.
//
//	dsl.Load --compiled spec--> each Analyzer of All() --> warnings with places
//
// An analyzer is one file with one dsl.Analyzer value, listed in all.go. It
// reads, and reports by Pass.Warn; none knows another. A false alarm is worse
// than a missed one: what is uncertain is not reported.
package analysis
