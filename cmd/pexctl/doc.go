// Command pexctl runs plan-execute-reflect agents that live in git as YAML.
//
//	arguments --> a command's flags --> dsl, engine --> stdout: the result
//	                                                \--> stderr: progress, diagnostics
//
// It wires and decides nothing: the components it knows are listed in catalog.go,
// its commands in app.go; each group of commands is a package below.
package main
