// Package fleettest tests that a fleet of workers loses no result and repeats no write, whatever
// dies: make faults-temporal.
//
//	200 runs x 20 steps x 10 writes --> 3 workers --writes--> ledger
//	                                      ^ one is killed every 2 seconds; the server three times
//	result of each run, ledger --judge--> each write once, each result that was stored in the answer
//
// The ledger is an HTTP server of the test, unknown to pexctl. It answers each write with a receipt,
// which the run must return. A write whose outcome is unknown waits for a person, who looks it up in the
// ledger.
//
// A driver has the commands of one implementation. The stand-in is a small workflow with the same
// rules, which tests the test itself: a careless variant of it must be found out.
//
// All tests have the build tag e2e. The package must not know how pexctl uses Temporal.
package fleettest
