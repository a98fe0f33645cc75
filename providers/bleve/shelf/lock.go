package shelf

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/pexctl/pex/engine/regular"
	"github.com/pexctl/pex/providers/bleve/shelf/index"
)

const (
	lockName  = "lock"
	indexName = "index"

	patience = time.Second           // how long another process is waited for
	between  = 20 * time.Millisecond // looks at its lock
)

// lock takes the lock of a folder; index.ErrBusy = another process has it longer
// than it is waited for.
func lock(ctx context.Context, dir string, patience time.Duration) (*os.File, error) {
	until := time.NewTimer(patience)
	defer until.Stop()
	for {
		f, err := try(dir)
		if err == nil || !errors.Is(err, index.ErrBusy) {
			return f, err
		}
		next := time.NewTimer(between)
		select {
		case <-next.C:
		case <-until.C:
			next.Stop()
			return nil, index.ErrBusy
		case <-ctx.Done():
			next.Stop()
			return nil, ctx.Err()
		}
	}
}

// try takes the lock of a folder if it is free. Its time says when the folder
// was used.
func try(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	name := filepath.Join(dir, lockName)
	f, err := regular.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	ok, err := tryLock(f)
	if err == nil && (!ok || !same(f, name)) {
		err = index.ErrBusy
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	// Without it the folder only looks older than it is.
	now := time.Now()
	_ = os.Chtimes(name, now, now)
	return f, nil
}

// same says whether a file still is what its name stands for: who had the lock
// before may have removed it.
func same(f *os.File, name string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(name)
	return err == nil && os.SameFile(a, b)
}
