// Package llm compiles the llms of a file.
//
//	section llms --Compiler.CompileLLMs--> model.Spec values, with prices and options
//	a role's llm and the keys beside it --ModelRef--> the entry, or one of its own
//
// It checks what a provider finds wrong with an entry, models that are misspelt or
// will be retired, and fallbacks.
//
// The package knows no provider: what one takes comes from the catalog.
package llm
