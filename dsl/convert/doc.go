// Package convert reads agents that were written for something else, and writes
// them as specs.
//
//	foreign JSON --OpenSearch, Aurite--> Result {files of a spec, notes}
//
// What cannot be carried over is a Note with the reason; nothing is left out in
// silence. The files vet clean. Nothing is read but what is given, nothing is
// written, and no secret is taken over: the name of a variable takes its place.
//
// The package must not know any command or provider, nor how files are written.
package convert
