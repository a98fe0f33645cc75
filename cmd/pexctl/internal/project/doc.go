// Package project finds and opens what commands work on: the spec that an argument
// names, its home, its runs, and what a person accepted of it.
//
//	word -> Compile: a file, a folder or an address -> Program, diagnostics shown
//	--home, $PEX_HOME, the project root -> HomeHere, HomeOfSpec -> OpenRuns
//
// It knows flags by name and shows what is wrong; it runs nothing.
package project
