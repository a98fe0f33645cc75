// Package lsp is the language server of specs: it serves editors while a file is
// being edited.
//
//	client --didOpen, didChange--> buffers --vet, one at a time, the newest text--> diagnostics
//	       --completion, hover, definition, ...--> the outline of a buffer
//	                                               + the noted schema of the language (keys, words, docs)
//	                                               + the names of the files that belong to it --> answers
//
// It keeps two views of a file. Diagnostics and resolved values come from the
// compiler, which reads buffers in place of files through dsl.Options.Read.
// Answers about a position come from an outline of the text, which is parsed by
// indentation, so a broken file has one too.
//
// Use Serve. The package must not know any component or flag: the catalog is in
// the options.
package lsp
