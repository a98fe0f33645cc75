//go:build !(darwin || freebsd || linux)

package badger

import "os"

// canQueue says that it is not known who waits: a store is handed over as if
// another process always did.
const canQueue = false

// tryLock leaves the locking to Badger's own lock, which is taken next.
func tryLock(*os.File) (bool, error) { return true, nil }

// tryShare is not used here.
func tryShare(*os.File) (bool, error) { return true, nil }

// freeBytes is not known here.
func freeBytes(string) (int64, bool) { return 0, false }
