// Package schema compiles JSON Schemas and checks values. It is the only door
// to the jsonschema library.
//
//	Compile(raw) --audit, library--> *Schema, or Problems with their places
//	Decode(text) --> a value with exact numbers
//	Schema.Coerce(value) --> the value with harmless slips put right
//	Schema.Validate(value) --> nil, or Violations that a model can repair
//
// The draft is 2020-12 unless $schema names an earlier one. It is self-contained: a $ref stays inside its
// document and nothing is ever loaded. Formats are asserted. Size, nesting and
// the number of subschemas that one schema stands for are capped before the
// library sees it, and what a value can cost is metered while it is checked.
//
// It must not know YAML, files, or what a schema is for.
package schema
