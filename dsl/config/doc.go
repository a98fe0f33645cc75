// Package config decodes the tree of a file into Go structs, by their struct
// tags.
//
//	*syntax.Node --Decoder.Decode--> structs tagged yaml, required, enum, min, max, ...
//	references (prompts, templates, expressions, schemas, paths) --> compiled and bound
//	defaults --> bound as well, and recorded as Origins
//	structs --Keys--> their keys with type, default and documentation
//
// A Decoder reports every mistake at its position, and unknown keys with a
// suggestion. It asks its Language for what depends on the file: LLMs, agents,
// named prompts.
//
// The package must not know any section of the language, component or provider.
package config
