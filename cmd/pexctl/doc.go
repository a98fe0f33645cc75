// Command pexctl runs plan-execute-reflect agents that live in git as YAML.
//
//	arguments --> a command's flags --> dsl, engine --> stdout: the result
//	                                                \--> stderr: progress, diagnostics
//
// It wires and decides nothing: each command is one file, the components it
// knows are listed in catalog.go, and the exit codes in exit.go.
package main
