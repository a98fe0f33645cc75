// Package modelcmd is `pexctl models`: the llms of a spec, and what they can do.
//
//	SPEC --> placed models --builtins/probe--> what each can do
//
// It knows no component by name and no other command.
package modelcmd
