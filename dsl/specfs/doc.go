// Package specfs finds and reads the files of specs, tests and suites.
//
//	path --InFolder, SplitAgent--> file --Root--> Reader --Read, Open--> syntax.Source
//	folder --Walk, Files, FindTests--> files, by their first keys
//
// A Reader opens nothing outside its root except the allowed folders, and records
// what came from there in Foreign. A path that cannot be read is a Refusal: a
// diagnostic code, a message and advice, for the caller to report at the place
// that names the path.
//
// The package knows the kinds of files and their top-level keys, and nothing else
// of the language. It compiles nothing.
package specfs
