// Package runs manages the runs of one home: it starts, resumes, cancels, forks,
// follows, lists, compares and removes them. Every front end calls the same methods.
//
//	Service.Start, Resume, Fork -> Session (the run is locked) -> Session.Run -> Result
//	Service.Read -> Run: a journal, replayed without performing anything
//	Service.Summary, List, Find: the state of runs, from their heads or else their journals
//	Service.Follow, Cancel, Remove: runs that this or another process executes
//
// The caller passes functions that compile specs and connect hosts (Env). The package
// must not know YAML, flags, HTTP or terminals. Its errors are typed, so that callers can
// add hints for their users.
package runs
