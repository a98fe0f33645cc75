package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/engine/regular"
)

// RemovePool deletes the folder that contains the pool at path. The folder is renamed
// first, so that it disappears as a whole even if the deletion is interrupted; the rest
// then remains under a name that starts with ".removed-". The error wraps fs.ErrNotExist
// if there is no such folder, and is an *InUseError if the pool is open.
func RemovePool(path string) error {
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	lock, err := acquire(path+".lock", filepath.Base(dir))
	if held, ok := errors.AsType[*InUseError](err); ok {
		return &InUseError{File: dir, PID: held.PID}
	}
	if err != nil {
		return err
	}
	beside := filepath.Dir(dir)
	trash, err := os.MkdirTemp(beside, removedPrefix)
	if err != nil {
		release(lock)
		return fmt.Errorf("remove %s: %w", dir, err)
	}
	if err := retire(lock, dir, filepath.Join(trash, filepath.Base(dir))); err != nil {
		_ = os.Remove(trash)
		return fmt.Errorf("remove %s: %w", dir, err)
	}
	if err := errors.Join(regular.SyncDir(beside), os.RemoveAll(trash)); err != nil {
		return fmt.Errorf("remove %s: %w", dir, err)
	}
	return nil
}

// PoolHolder reports whether the pool at path is open, without locking it, and in which
// process; pid is 0 if unknown.
func PoolHolder(path string) (pid int, yes bool) { return lockHolder(path + ".lock") }
