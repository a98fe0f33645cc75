// Package project finds and opens what commands work on: the spec in an argument,
// its home, its runs, and what the user trusts.
//
//	word -> Compile: a file, a folder or a URL -> Program, diagnostics shown
//	--home, $PEX_HOME, the project root -> HomeHere, HomeOfSpec -> OpenRuns
//
// It knows flags by name and shows errors; it runs nothing.
package project
