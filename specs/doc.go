// Package specs carries the sample agents of this folder in the program, so
// that `pexctl new` can hand them out.
//
//	README.md --List--> []Sample, a line each
//	Find(name) -------> Sample --Files--> what its folder holds
//
// It must not know what a spec is, nor where the files go.
package specs
