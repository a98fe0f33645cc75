//go:build !(darwin || freebsd || linux)

package badger

import "os"

// notices says that nobody can tell who waits: a store is handed over as if
// somebody always did.
const notices = false

// tryLock leaves the locking to Badger's own lock, which is taken next.
func tryLock(*os.File) (bool, error) { return true, nil }

// tryShare has nobody to tell.
func tryShare(*os.File) (bool, error) { return true, nil }

// unlock has nothing to let go of.
func unlock(*os.File) {}

// freeBytes is not known here.
func freeBytes(string) (int64, bool) { return 0, false }

// syncDir has no counterpart here.
func syncDir(string) error { return nil }
