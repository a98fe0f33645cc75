// Package speccmd implements the commands that read specs and run nothing: vet,
// explain, fmt, diff, graph, render, list, schema and lsp.
//
//	SPEC --project.Compile, dsl.Vet--> text, JSON, pictures, the protocol of editors
//
// It knows no component by name and no other command.
package speccmd
