package regular

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
)

// observer is told of syncs; nil = none.
var observer atomic.Pointer[func(path string)]

// ObserveSyncs has f called with the path of each file and directory before it
// is synced, until stop is called: tests assert by it what survives a power
// loss. It is one observer for the whole process; f may be called at once from
// several goroutines.
func ObserveSyncs(f func(path string)) (stop func()) {
	observer.Store(&f)
	return func() { observer.Store(nil) }
}

// Sync makes what was written to a file durable.
func Sync(f *os.File) error {
	if told := observer.Load(); told != nil {
		(*told)(f.Name())
	}
	return f.Sync()
}

// SyncDir makes the names in a directory durable: of files that were created,
// renamed or removed.
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

// SyncPath makes a file durable that this process may have closed.
func SyncPath(path string) error {
	f, err := OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(Sync(f), f.Close())
}
