// Package dataset reads the cases of an evaluation, one after another, from
// JSONL, CSV or YAML, and picks those that are to be run.
//
//	Source.Cases -> Case{ID, Line, Group, Tags, Weight, Row}, or an error with file and line
//	Filter.Of    -> those with a tag, an id, of a sample, of a shard
//	Inputs       -> the parameters of a run, made of a case
//
// A case is named by its id, or by a hash of its row that does not depend on
// the order of its columns. JSONL and CSV files may be of any length; a line of
// them may not. The package must not know how cases are run.
package dataset
