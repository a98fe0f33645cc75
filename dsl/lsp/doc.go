// Package lsp is the language server of specs: what editors ask while a file is
// being typed.
//
//	client --didOpen, didChange--> buffers --vet, one at a time, the newest text--> diagnostics
//	       --completion, hover, definition, ...--> the outline of a buffer
//	                                               + the noted schema of the language (keys, words, docs)
//	                                               + the names of the files that belong to it --> answers
//
// Two views of a file exist side by side. Diagnostics and resolved values
// come from the compiler, which sees buffers in place of files through
// dsl.Options.Read. All that is asked at a position comes from an outline of the
// text: it is read by indentation, so a file that is broken has one too.
//
// Use Serve. The package must not know any component or flag: the catalogue is
// in the options.
package lsp
