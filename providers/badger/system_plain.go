//go:build !(darwin || freebsd || linux)

package badger

import "os"

// tryLock leaves the locking to Badger's own lock, which is taken next.
func tryLock(*os.File) (bool, error) { return true, nil }

// freeBytes is not known here.
func freeBytes(string) (int64, bool) { return 0, false }

// syncDir has no counterpart here.
func syncDir(string) error { return nil }
