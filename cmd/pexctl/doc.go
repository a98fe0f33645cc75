// Command pexctl runs plan-execute-reflect agents that live in git as YAML.
//
//	arguments --> a command's flags --> dsl, engine --> stdout: the result
//	                                                \--> stderr: progress, diagnostics
//
// The package only connects the parts: catalog.go lists the components, app.go
// the commands; each group of commands is a package below it.
package main
