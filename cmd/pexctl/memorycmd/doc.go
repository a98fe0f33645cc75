// Package memorycmd is `pexctl memory`: the conversations of a home.
//
//	SPEC, ID --> the store of conversations --> text or JSON
//
// It knows no component by name and no other command.
package memorycmd
