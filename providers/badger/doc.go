// Package badger keeps conversations in a Badger store: engine.Memory over
// github.com/dgraph-io/badger/v4, whose one door this is.
//
//	Open names a directory and touches nothing
//	History, Append --session--> lock, checks, open, work, close
//	sentinel (pex-store.json) says what the directory must hold
//
// Badger locks its directory for one process and is closed as soon as nothing
// runs on it, so that many processes share one home. A store that is damaged,
// in use for too long or on a full disk is an error of its own type, found
// before Badger opens the files: opening can destroy what is left, and a full
// disk would kill the process.
//
// It must not know runs, specs or flags.
package badger
