// Package tool defines tools: the Tool that a builtin or provider implements, its Call,
// Output and Info, the Toolset of a server, the Spec and rules that an author writes, and
// the Record of a call.
//
// How calls are approved, retried, limited or journaled is decided in engine/runtime.
package tool
