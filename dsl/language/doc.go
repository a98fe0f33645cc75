// Package language defines the language of specs, tests, suites, price lists,
// servers and token files as Go structs: every key with its type, default and
// documentation.
//
//	Spec, TestsKeys, SuiteKeys, PricesKeys, ServerKeys, TokensKeys --config.Decoder--> filled structs
//	the same structs --> key order of fmt, JSON Schema, reference tables, advice
//
// A new key is a new field; no other place lists keys. The package also maps the
// vocabulary of other tools to the words of the language.
//
// The package compiles nothing and must not know any component or provider.
package language
