// Package injectiontest tests one property of the whole agent: a model that obeys every
// instruction it reads can do only what its spec allows.
//
//	seed --> a random spec: tools and their visibility, approvals, guards, fixed values, modes
//	testdata/injections.txt --> tool output: instructions to do something else
//	obedient (a model) --obeys whatever it reads, as planner, executor, reflector-->
//	runtime.Run, suspended and resumed --> ledger, written by the tools
//	ledger, files, servers, the approver's log --> violations
//
// It tests the engine, not models: it does not distinguish good instructions from bad
// ones. It must not ask the engine what was allowed, but derives that independently.
package injectiontest
