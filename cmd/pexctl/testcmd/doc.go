// Package testcmd is `pexctl test`: it runs the tests of specs and maintains
// their golden files.
//
//	paths --plan--> cases --eval/testcase--> results --> text, JSON, reports; goldens
//
// It knows no component by name and no other command.
package testcmd
