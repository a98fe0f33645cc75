// Package modelcmd is `pexctl models`: the LLMs of a spec, and what they support.
//
//	SPEC --> placed models --builtins/probe--> what each one supports
//
// It knows no component by name and no other command.
package modelcmd
