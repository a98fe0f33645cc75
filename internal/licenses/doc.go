// Command licenses writes THIRD_PARTY_LICENSES: the license of every module that
// is linked into a command, on all platforms that pexctl is built for.
//
//	go list -deps ./cmd/pexctl --Linked--> []Module {path, version, license files}
//	Write(modules) -> one section for each distinct text, with the modules it covers
//
// License files are looked for in the folder of each linked package and in those
// above it, up to the root of its module: a package copied from elsewhere has a
// license of its own.
//
// The package must not know what the modules are used for.
package main
