// Package analysis finds likely mistakes in a spec that compiles: unused parts,
// conditions that never hold, tools that no node can call.
//
//	dsl.Load --compiled spec--> each Analyzer of All() --> warnings with positions
//
// An analyzer is one file with one dsl.Analyzer value, listed in all.go. It only
// reads the spec and reports with Pass.Warn; analyzers do not depend on each
// other. A false alarm is worse than a missed mistake, so an analyzer reports
// only what is certain.
package analysis
