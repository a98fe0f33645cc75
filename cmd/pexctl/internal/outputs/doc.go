// Package outputs writes reports of tests and evaluations: to stdout, to files,
// and for CI.
//
//	report --Outputs--> text or JSON on stdout, one file per format
//
// It knows no component by name and no other command, and prints no result.
package outputs
