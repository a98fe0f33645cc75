// Package enginetest has conformance suites for the engine's interfaces, and fakes for
// tests.
//
//	ModelSuite(t, newModel, skip...)   a model.Model against a fake server
//	ToolSuite, MemorySuite, BlobSuite  a tool.Tool, a memory.Store, a blob.Store
//	ScopeSuite(t, drive)               an implementation of engine.Scope
//	NewScope(ctx, program, input, host) an in-memory Scope, to test a single node
//	Toolset, Store                     an in-memory tool server and store
//	World                              a kernel.World without goroutines and clock
//
// A suite knows only the contract; the caller's functions create servers and stores. The
// package must not know implementations, including engine/runtime.
package enginetest
