// Package mcptest is tool servers that behave badly: each breaks the Model
// Context Protocol, or the patience of whoever speaks it, in one way of its own.
//
//	TestMain --Main--> the test binary, started again with ModeEnv, is the server on stdio
//	HTTP(t, mode)  --> the URL of one behind HTTP, and what it was asked
//	Left(mark)     --> the processes that are still there
//
// The servers write their lines by hand, so that there is no rule they could
// not break. A mode is one entry of Modes or WebModes, which says in a sentence
// what it does; all that it does not break, it does as a good server would.
//
// It must not know who the client is.
package mcptest
