// Package badger keeps conversations in a Badger store: memory.Store and
// memory.SessionStore over github.com/dgraph-io/badger/v4, whose one door
// this is, and what an operator needs: list, remove, check, back up, restore.
//
//	Open names a directory and touches nothing
//	an operation --lease--> lock, checks, open, work, close
//	sentinel (pex-store.json) says what the directory must hold
//	witness (pex-store.count) says how many writes there were
//
// Badger locks its directory for one process. Here it is closed as soon as
// nothing runs on it, or rests open for Options.Idle and is handed over when
// somebody waits, so that many processes share one home. A store that is
// damaged, in use for too long or on a full disk is an error of its own type,
// found before Badger opens the files where that is possible: opening can
// destroy what is left, and a full disk would kill the process.
//
// It must not know runs, specs or flags.
package badger
