// Package docscmd is `pexctl docs`: the pages of the reference that are generated from
// the code.
//
//	catalog, commands, diagnostics --pages--> docs/reference/
//
// It knows no component by name and no other command.
package docscmd
