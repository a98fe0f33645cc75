// Command licenses writes THIRD_PARTY_LICENSES: the licenses of all modules linked into a
// command, for all platforms of pexctl.
//
//	go list -deps ./cmd/pexctl --Linked--> []Module {path, version, license files}
//	Write(modules) -> one section per distinct text, with the modules it covers
//
// Libraries that the binary embeds, such as those of the pages, are added by Embedded.
//
// License files are searched in the folder of each linked package and its parents, up to
// the root of the module: a package copied from elsewhere has its own license.
//
// It must not know what the modules are used for.
package main
