// Package jsonschema writes the JSON Schema of the language for editors, and its
// reference in Markdown.
//
//	language structs + catalog + checks --New--> JSON Schema (draft 2020-12)
//	the same --NewTracked--> with notes for pex's own language server
//	the same --Reference--> tables of all keys
//
// The schema accepts what the compiler accepts, as far as a schema can express
// it.
//
// The package reads struct tags only: it parses no file and knows no component.
package jsonschema
