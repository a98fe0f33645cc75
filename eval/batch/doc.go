// Package batch runs many trials at once: the cases of a dataset, under each
// variant, so and so many times, and keeps what came of each.
//
//	Plan -> Run: case x repeat x variant -> runtime.Run -> checks -> a row
//	manifest.json  what the evaluation is of
//	trials.jsonl   the journals of all trials: one that was cut short goes on
//	rows.jsonl     a line for each that has ended: it never runs again
//	OpenRows -> the rows that count; Rescore -> the same rows, graded anew
//
// Every figure of an evaluation is made of its rows (package fold); the only
// other thing that is remembered is which trials have one. What is in memory
// does not grow with the texts of the trials. The package must not know YAML,
// flags, providers, or how a report looks.
package batch
