// Package language is the language of specs, tests, suites and price lists as Go
// structs: every key with its type, default and documentation.
//
//	Spec, TestsKeys, SuiteKeys, PricesKeys --config.Decoder--> filled structs
//	the same structs --> key order of fmt, JSON Schema, reference tables, advice
//
// A new key is a new field; nothing else lists keys. The words of other tools that
// people write by mistake are here too, with what to write instead.
//
// The package compiles nothing and must not know any component or provider.
package language
