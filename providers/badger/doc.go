// Package badger implements memory.Store and memory.SessionStore with
// github.com/dgraph-io/badger/v4, and the operations of an operator: list, remove, check,
// back up, restore.
//
//	Open names a directory and does nothing else
//	Append --> inbox (pex-store.inbox): a line is written and synced
//	another operation --lease--> lock, checks, open, import of the inbox, work, close
//	sentinel (pex-store.json): what the directory must contain
//	witness (pex-store.count): how many writes were made
//
// Badger locks its directory for one process. This package closes the store as soon as it
// is unused, or keeps it open for Options.Idle and hands it over when another process
// waits, so that many processes can share one home. A damaged store, a lock timeout and a
// full disk have error types of their own. Where possible they are detected before Badger
// opens the files: opening can destroy what is left, and a full disk would crash the
// process.
//
// The package must not know runs, specs or flags.
package badger
