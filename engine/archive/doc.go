// Package archive puts many files into one stream that proves itself whole.
//
//	NewWriter -> Add, Add, ... -> Close: a tar stream, its manifest last
//	Read: hands each file on, then holds all of them against the manifest
//
// The manifest has the size and the hash of every file. It comes last, so that
// a stream that was cut has none.
//
// The package knows nothing of runs and stores: what is in the files is for
// those who write and read them.
package archive
