// Package obedience holds one property of the whole agent: what a model that
// obeys every order it reads can reach is what its spec allows, and no more.
//
//	seed --> a random spec: tools, who sees them, approvals, guards, fixed values, modes
//	testdata/injections.txt --> what tools give: orders to do something else
//	obedient (a model) --obeys whatever it reads, as planner, executor, reflector-->
//	runtime.Run, parked and resumed --> ledger, kept by the far side of the tools
//	ledger, files, servers, the person's own book --> what is wrong
//
// It tests the engine, not models: nothing here tells a good order from a bad
// one. It must not ask the engine what was allowed; it works that out anew.
package obedience
