// Package runs works with the runs of one home: it starts, resumes, cancels,
// forks, follows, lists, compares and removes them. The command line and a
// server call the same methods.
//
//	Service.Start, Resume, Fork -> Session (the run is locked) -> Session.Run -> Result
//	Service.Read -> Run: what a journal holds, replayed without performing anything
//	Service.Summary, List, Find: the state of runs by their heads, else by their journals
//	Service.Follow, Cancel, Remove: runs that this or another process executes
//
// Whoever wires a Service passes functions that compile specs and connect hosts
// (Env). The package must not know YAML, flags, HTTP or terminals; its errors
// are typed, so that callers can add what their users can do about them.
package runs
