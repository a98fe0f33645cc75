package regular

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
)

// interceptor performs the syncs; nil = they are performed directly.
var interceptor atomic.Pointer[func(path string, sync func() error) error]

// InterceptSyncs calls f for each sync of a file or directory, until stop is called, for
// tests of durability. f performs the sync by calling sync, or simulates it. There is one
// interceptor per process; f must be safe for concurrent use.
func InterceptSyncs(f func(path string, sync func() error) error) (stop func()) {
	interceptor.Store(&f)
	return func() { interceptor.Store(nil) }
}

// ObserveSyncs intercepts syncs and calls f with each path before it is synced.
func ObserveSyncs(f func(path string)) (stop func()) {
	return InterceptSyncs(func(path string, sync func() error) error {
		f(path)
		return sync()
	})
}

// Sync syncs a file.
func Sync(f *os.File) error {
	if intercept := interceptor.Load(); intercept != nil {
		return (*intercept)(f.Name(), f.Sync)
	}
	return f.Sync()
}

// SyncDir syncs a directory: the names of files created, renamed or removed.
func SyncDir(path string) error {
	if !dirSyncs {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	return errors.Join(Sync(d), d.Close())
}

// SyncPath syncs a file that this process may have closed.
func SyncPath(path string) error {
	f, err := OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(Sync(f), f.Close())
}
