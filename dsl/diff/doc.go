// Package diff says in words how two specs differ in what they mean.
//
//	*dsl.Spec, *dsl.Spec --Compare--> Report{sections of changes, agents within, worst case}
//
// Two things are compared: the resolved trees of the specs, for
// what was changed and where it is, and their Programs, for what a run makes
// of it (graph, effects of tools, worst case). What is written otherwise and
// means the same is no change: the order of keys, a default written out, a text
// that moved into a file, a named prompt, a library or a base. Tests and suites
// do not change what an agent does, and are not looked at.
//
// A change says whether runs become looser or safer by it, or whether who calls
// the agent or reads its answer has to follow.
//
// It must not know files, commits, flags, or how a report is shown.
package diff
