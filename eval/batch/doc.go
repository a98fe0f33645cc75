// Package batch runs many trials concurrently: the cases of a dataset for every variant
// and repeat, and stores the results.
//
//	Plan -> Run: case x repeat x variant -> runtime.Run -> checks -> a row
//	manifest.json  what is evaluated
//	trials.jsonl   the journals of all trials: interrupted ones resume
//	rows.jsonl     a row per finished trial, which is not run again
//	OpenRows -> the current rows; Rescore -> the same rows, graded again
//
// All figures of an evaluation derive from its rows (package fold). Memory use does not
// grow with the texts of the trials. The package must not know YAML, flags, providers, or
// report formats.
package batch
