// Package enginetest holds the seams of the engine to their word: one
// conformance suite per seam, run by the tests of everything that implements it.
//
//	ModelSuite(t, newModel, skip...)   a Model against a fake server
//	ToolSuite, MemorySuite             a Tool, a Memory
//	Toolset                            a server of tools that lives in the test
//
// A suite knows the contract only; what a server or a store looks like is told
// by the caller's functions. It must not know any implementation.
package enginetest
