//go:build !(darwin || freebsd || linux)

package badger

import "os"

// canLock is false: waiting processes are unknown, so a store is always handed over and
// has no inbox.
const canLock = false

// tryLock relies on Badger's own lock, which is taken next.
func tryLock(*os.File) (bool, error) { return true, nil }

// tryShare is unused on this system.
func tryShare(*os.File) (bool, error) { return true, nil }

// freeBytes is unknown on this system.
func freeBytes(string) (int64, bool) { return 0, false }
