// Package diff describes how two specs differ in meaning.
//
//	*dsl.Spec, *dsl.Spec --Compare--> Report{sections of changes, agents within, worst case}
//
// It compares two things: the resolved trees of the specs, to find what changed
// and where, and their Programs, to find the effect on a run (graph, effects of
// tools, worst case). A different notation with the same meaning is not a change:
// the order of keys, an explicit default, a text moved to a file, a named prompt,
// a library or a base. Tests and suites do not affect an agent and are not
// compared.
//
// A change states whether it makes runs looser or safer, or breaks callers or
// readers of the answer.
//
// The package must not know files, commits, flags, or how a report is shown.
package diff
