// Package faults proves that a run may lose its process, its disk or its files
// at any moment: `make faults`.
//
//	pexctl is started --> killed, starved, damaged --> resumed until it is done
//	                                                     |
//	the ledger, the events, the undisturbed run  <--compare
//
// The tools of its agent write into a ledger that pexctl knows nothing of. It is
// the witness: each write stands there once, whatever happened. The events that
// a process told before it died are what it acknowledged: all of it must be in
// the final result, and nothing of it may be performed again.
//
// All of it is tests with the build tag faults, against a pexctl of its own with
// the points of engine/failpoint in it. It must not know the insides of pexctl:
// what it cannot see from outside, an operator cannot see either.
package faults
