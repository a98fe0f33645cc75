// Package host connects a program to the world: its models, tools, memory, secrets,
// and what pex.lock pins of its tool servers.
//
//	Program + Settings --New--> engine.Host
//	home --Runs--> runs.Env: compiles the programs of stored runs and connects them
//
// It opens nothing: each part opens what it needs when it is first used. It knows
// no component by name (see package catalog) and no flag.
package host
