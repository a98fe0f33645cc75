// Package trajectory holds the tool calls of a run against those that were
// expected.
//
//	steps --> calls in order --align with Expectation--> lines, problems, score
//
// Calls are aligned, not only counted: the report shows which were as expected,
// which had other arguments, and which were too many or never made. Every call
// that the agent asked for counts, whatever became of it. The package must not
// know YAML, checks, or how a report looks.
package trajectory
