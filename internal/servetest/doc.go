// Package servetest tests pexctl serve from outside, as a client and an operator see it:
// `make e2e-serve`.
//
//	pexctl serve is started --> killed, terminated, starved, raced --> started again
//	      ^                                                                |
//	      HTTP clients: runs, events by Last-Event-ID, decisions    the ledger of writes
//
// The tools of its agents append to a ledger unknown to pexctl, in which each write must
// occur exactly once. Watchers reconnect after every break and join the events by their
// ids; the result must equal the events of an undisturbed run.
//
// Each test has a small size for go test ./... and, with the build tag e2e, the size of the
// goals of the server. The package must not know the internals of pexctl.
package servetest
