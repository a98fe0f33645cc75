// Package toolcmd is `pexctl tools`: it lists, calls and pins the tools of a
// spec.
//
//	SPEC --> host with only tools --> a list, one call, pex.lock
//
// It knows no component by name and no other command.
package toolcmd
