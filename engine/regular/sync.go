package regular

import (
	"errors"
	"fmt"
	"io/fs"
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

// SyncData syncs the content of a file, and of its metadata what is needed to read it.
func SyncData(f *os.File) error {
	if intercept := interceptor.Load(); intercept != nil {
		return (*intercept)(f.Name(), func() error { return syncData(f) })
	}
	return syncData(f)
}

// manyFiles is from how many files on one sync of the file system is cheaper.
const manyFiles = 16

// SyncAll syncs files in a directory, and the directory. Files that do not exist are
// ignored. Many files are synced by one sync of the file system, where that is possible.
func SyncAll(dir string, paths []string) error {
	if len(paths) >= manyFiles && interceptor.Load() == nil {
		if synced, err := syncFileSystem(dir); synced {
			return err
		}
	}
	for _, path := range paths {
		if err := SyncPath(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return SyncDir(dir)
}
