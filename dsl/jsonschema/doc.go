// Package jsonschema writes the JSON Schema of the language for editors, and its
// reference in Markdown.
//
//	language structs + catalog + checks --New--> JSON Schema (draft 2020-12)
//	the same --NewNoted--> with notes for our own editor support
//	the same --Reference--> tables of all keys
//
// The schema accepts what the compiler accepts, as far as a schema can say it.
//
// The package reads struct tags only: it parses no file and knows no component.
package jsonschema
