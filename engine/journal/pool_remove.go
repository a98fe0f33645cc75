package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/engine/regular"
)

// RemovePool deletes the folder that the pool at path lies in, with all that is
// in there. From the moment it returns, or is cut short, the folder is gone as a
// whole: what is left of it then lies beside it, under a name that begins with
// ".removed-". The error wraps fs.ErrNotExist when there is no such folder, and is
// a *HeldError when someone has the pool open.
func RemovePool(path string) error {
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	lock, err := acquire(path+".lock", filepath.Base(dir))
	if held, ok := errors.AsType[*HeldError](err); ok {
		return &HeldError{File: dir, PID: held.PID}
	}
	if err != nil {
		return err
	}
	beside := filepath.Dir(dir)
	trash, err := os.MkdirTemp(beside, removed)
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

// PoolHolder says, without taking it, whether someone has the pool at path open,
// and who; pid is 0 when it is not known.
func PoolHolder(path string) (pid int, yes bool) { return held(path + ".lock") }
