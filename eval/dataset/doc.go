// Package dataset reads the cases of an evaluation one by one from JSONL, CSV or YAML,
// and selects those to run.
//
//	Source.Cases -> Case{ID, Line, Group, Tags, Weight, Row}, or an error with file and line
//	Filter.Of    -> cases with a tag or id, or of a sample or shard
//	Inputs       -> the parameters of a run, from a case
//
// A case is identified by its id, or by a hash of its row that is independent of column
// order. JSONL and CSV files may have any size; their lines may not. The package must not
// know how cases are run.
package dataset
