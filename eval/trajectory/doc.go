// Package trajectory compares the tool calls of a run with expected ones.
//
//	steps --> calls in order --align with Expectation--> lines, problems, score
//
// Calls are aligned rather than counted: the report shows which matched, which had other
// arguments, and which were unexpected or missing. Every call that the agent requested
// counts, whatever its outcome. The package must not know YAML, checks, or report
// formats.
package trajectory
