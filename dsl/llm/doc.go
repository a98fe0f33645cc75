// Package llm compiles the LLMs of a file.
//
//	section llms --Compiler.CompileLLMs--> model.Spec values, with prices and options
//	a role's llm and the keys beside it --ModelRef--> the entry, or a derived one
//
// It runs the provider's checks of an entry, and checks for misspelled or retired
// models and for fallbacks.
//
// The package knows no provider: the catalog defines what each one accepts.
package llm
