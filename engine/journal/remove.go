package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pexctl/pex/engine/regular"
)

// removedPrefix starts the names of folders of runs being removed. It is not valid in run
// ids.
const removedPrefix = ".removed-"

// Remove deletes a run, damaged or not, with its folder. The folder is renamed first, so
// that the run disappears as a whole even if the deletion is interrupted; Sweep deletes
// the rest. The error wraps fs.ErrNotExist if there is no such run, and is a *HeldError
// if it is open.
func (h *Home) Remove(run string) error {
	if err := checkID(run); err != nil {
		return err
	}
	dir := h.Folder(run)
	if _, err := os.Stat(dir); err != nil {
		return missing(run, err)
	}
	lock, err := acquire(filepath.Join(dir, lockName), run)
	if err != nil {
		return missing(run, err)
	}
	trash, err := os.MkdirTemp(h.runs, removedPrefix)
	if err != nil {
		release(lock)
		return fmt.Errorf("remove run %s: %w", run, err)
	}
	if err := retire(lock, dir, filepath.Join(trash, run)); err != nil {
		_ = os.Remove(trash)
		return fmt.Errorf("remove run %s: %w", run, err)
	}
	if err := errors.Join(regular.SyncDir(h.runs), os.RemoveAll(trash)); err != nil {
		return fmt.Errorf("remove run %s: %w", run, err)
	}
	return nil
}

// Sweep deletes the leftovers of interrupted removals and returns their size. With dryRun
// it deletes nothing.
func (h *Home) Sweep(dryRun bool) (freed int64, err error) {
	entries, err := os.ReadDir(h.runs)
	if err != nil {
		return 0, fmt.Errorf("sweep runs: %w", err)
	}
	var all []error
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), removedPrefix) {
			continue
		}
		path := filepath.Join(h.runs, e.Name())
		n, err := size(path)
		if err == nil && !dryRun {
			err = os.RemoveAll(path)
		}
		if err != nil {
			all = append(all, fmt.Errorf("sweep runs: %w", err))
			continue
		}
		freed += n
	}
	return freed, errors.Join(all...)
}

// size returns the bytes of all files below a folder, ignoring files that disappear
// meanwhile.
func size(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = e.Info(); err == nil {
				n += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return n, err
}
