// Package tool is the vocabulary of tools: the Tool that a builtin or provider
// implements, the Call it gets and the Output it returns, its Info, the Toolset of
// a server, the Spec and the rules an author writes, and the Record that is kept of
// a call.
//
// It does not know how a call is approved, retried, limited or journaled: that is
// engine/runtime.
package tool
