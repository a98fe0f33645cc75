// Package enginetest holds implementations of the engine's interfaces to their
// contract, with one conformance suite each, and has fakes for tests.
//
//	ModelSuite(t, newModel, skip...)   a model.Model against a fake server
//	ToolSuite, MemorySuite             a tool.Tool, a memory.Store
//	ScopeSuite(t, drive)               a driver of engine.Scope
//	NewScope(ctx, program, input, host) a Scope in memory, to test a node alone
//	Toolset, Store                     a server of tools and a store, in memory
//
// A suite knows the contract only; the caller's functions say what a server or a
// store looks like. The package must not know any implementation: neither
// engine/runtime nor engine/kernel.
package enginetest
