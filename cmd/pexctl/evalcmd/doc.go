// Package evalcmd is `pexctl eval`: it runs suites of trials, compares
// evaluations and stores baselines.
//
//	SUITE --suite--> trials --eval/batch--> rows --eval/report--> report --outputs--> text, JSON, files
//
// It knows no component by name and no other command.
package evalcmd
