// Package crashtest tests that a run survives the loss of its process, disk or files at any
// moment: `make faults`.
//
//	pexctl is started --> killed, starved, damaged --> resumed until it is done
//	                                                     |
//	the ledger, the events, the undisturbed run  <--compare
//
// The tools of its agent write to a ledger unknown to pexctl, in which each write must
// occur exactly once, whatever happened. Events emitted before a process died count as
// acknowledged: the final result must contain all of them, and none may be repeated.
//
// All tests have the build tag faults and use a pexctl built with engine/failpoint. The
// package must not know the internals of pexctl: like an operator, it only observes from
// outside.
package crashtest
