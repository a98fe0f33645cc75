// Package outputs is where reports of tests and evaluations go: stdout, files, and
// what CI reads.
//
//	report --Outputs--> text or JSON on stdout, a file a format
//
// It knows no component by name and no other command, and prints no result.
package outputs
