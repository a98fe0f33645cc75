// Package archive writes many files into one stream whose completeness can be verified.
//
//	NewWriter -> Add, Add, ... -> Close: a tar stream that ends with a manifest
//	Read: passes on each file, then compares all of them with the manifest
//
// The manifest has the size and hash of every file. It comes last, so a truncated stream
// has none.
//
// The package knows nothing of runs and stores.
package archive
