package regular

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
)

// observer is called for syncs; may be nil.
var observer atomic.Pointer[func(path string)]

// ObserveSyncs calls f with the path of each file and directory before it is synced,
// until stop is called, for tests of durability. There is one observer per process; f
// must be safe for concurrent use.
func ObserveSyncs(f func(path string)) (stop func()) {
	observer.Store(&f)
	return func() { observer.Store(nil) }
}

// Sync syncs a file.
func Sync(f *os.File) error {
	if observe := observer.Load(); observe != nil {
		(*observe)(f.Name())
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
