// Package host connects a program to its models, tools, memory and secrets, and to the
// pinned tools in pex.lock.
//
//	Program + Settings --New--> engine.Host
//	home --Runs--> runs.Env: compiles and connects the programs of stored runs
//
// It opens nothing: each part opens what it needs on first use. It knows no component by
// name (see package catalog) and no flags.
package host
