// Package specs embeds the sample agents of this folder in the binary, for
// `pexctl new`.
//
//	README.md --List--> []Sample, one per row
//	Find(name) -------> Sample --Files--> the files of its folder
//
// It must not know what a spec is, nor where the files go.
package specs
