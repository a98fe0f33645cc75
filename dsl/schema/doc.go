// Package schema compiles JSON Schemas and validates values. It is the only
// package that imports the jsonschema library.
//
//	Compile(raw) --audit, library--> *Schema, or Problems with their places
//	Decode(text) --> a value with exact numbers
//	Schema.Coerce(value) --> the value with harmless mistakes fixed
//	Schema.Validate(value) --> nil, or Violations that a model can repair
//
// The draft is 2020-12 unless $schema names an earlier one. A schema is
// self-contained: a $ref stays inside its document and nothing is ever loaded.
// Formats are asserted. Size, nesting and the number of subschemas after
// expansion are limited before the library compiles it, and the cost of
// validating a value is metered.
//
// The package must not know YAML, files, or what a schema is for.
package schema
