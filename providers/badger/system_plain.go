//go:build !(darwin || freebsd || linux)

package badger

import "os"

// tryLock leaves the locking to Badger's own lock, which is taken next.
func tryLock(*os.File) (bool, error) { return true, nil }

// tryShare lets nobody know: a store is closed as soon as nobody uses it.
func tryShare(*os.File) (bool, error) { return true, nil }

// unlock has nothing to let go of.
func unlock(*os.File) {}

// freeBytes is not known here.
func freeBytes(string) (int64, bool) { return 0, false }

// syncDir has no counterpart here.
func syncDir(string) error { return nil }
