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

// removed begins the names of folders that hold a run on its way out. They are
// no run ids, so nobody takes them for one.
const removed = ".removed-"

// Remove deletes a run, damaged or not, with all that lies in its folder. From
// the moment it returns, or is cut short, the run is gone as a whole; what is
// left of its files then is for Sweep. The error wraps fs.ErrNotExist when
// there is no such run, and is a *HeldError when someone has it open.
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
	trash, err := os.MkdirTemp(h.runs, removed)
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

// Sweep deletes what removals that were cut short left behind, and gives its
// size; only the size if look is set.
func (h *Home) Sweep(look bool) (freed int64, err error) {
	entries, err := os.ReadDir(h.runs)
	if err != nil {
		return 0, fmt.Errorf("sweep runs: %w", err)
	}
	var all []error
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), removed) {
			continue
		}
		path := filepath.Join(h.runs, e.Name())
		n, err := size(path)
		if err == nil && !look {
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

// size is the bytes of all files below a folder; what goes away meanwhile has none.
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
