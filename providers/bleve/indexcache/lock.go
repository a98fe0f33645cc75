package indexcache

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/pexctl/pex/engine/regular"
)

const (
	lockName  = "lock"
	indexName = "index"

	patience     = time.Second           // how long to wait for another process
	pollInterval = 20 * time.Millisecond // between attempts to lock
)

// errBusy is returned for a folder that another process has locked.
var errBusy = errors.New("another process has the index open")

// lock locks a folder; it returns errBusy if another process holds the lock for
// longer than patience.
func lock(ctx context.Context, dir string, patience time.Duration) (*os.File, error) {
	until := time.NewTimer(patience)
	defer until.Stop()
	for {
		f, err := tryAcquire(dir)
		if err == nil || !errors.Is(err, errBusy) {
			return f, err
		}
		next := time.NewTimer(pollInterval)
		select {
		case <-next.C:
		case <-until.C:
			next.Stop()
			return nil, errBusy
		case <-ctx.Done():
			next.Stop()
			return nil, ctx.Err()
		}
	}
}

// tryAcquire locks a folder if it is free. The time of the lock file is when the folder
// was last used.
func tryAcquire(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	name := filepath.Join(dir, lockName)
	f, err := regular.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	ok := true // without locks, bleve's own lock, which is taken next, is enough
	if regular.CanLock {
		ok, err = regular.TryLock(f)
	}
	if err == nil && (!ok || !stillLinked(f, name)) {
		err = errBusy
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	// Best effort: otherwise the folder only looks older.
	now := time.Now()
	_ = os.Chtimes(name, now, now)
	return f, nil
}

// stillLinked reports whether a file is still at its path: the previous holder may have
// removed it.
func stillLinked(f *os.File, name string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(name)
	return err == nil && os.SameFile(a, b)
}
