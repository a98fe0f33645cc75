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

// Remove deletes a run, damaged or not, with its folder. Its files are moved away first,
// the journal last, so that the run disappears at once even if the deletion is
// interrupted; Sweep deletes the rest. The error wraps fs.ErrNotExist if there is no such
// run, and is an *InUseError if it is open.
func (h *Home) Remove(run string) error {
	if err := checkID(run); err != nil {
		return err
	}
	unlock, locked, err := h.lockExisting(run)
	if err != nil {
		return err
	}
	defer unlock()
	_, _, err = h.index.head(run)
	if errors.Is(err, fs.ErrNotExist) && !exists(h.path(run)) && !exists(h.Folder(run)) {
		return missing(run, err)
	}
	if err := h.moveAway(run, locked); err != nil {
		return fmt.Errorf("remove run %s: %w", run, err)
	}
	return nil
}

// moveAway moves the files of a run to a new folder, and deletes that. A journal that is
// not locked was created meanwhile, and belongs to another run.
func (h *Home) moveAway(run string, locked bool) error {
	trash, err := os.MkdirTemp(h.runs, removedPrefix)
	if err != nil {
		return err
	}
	verr := h.voidLogs(run) // on a full disk, again below
	paths := []string{h.Folder(run)}
	if locked {
		paths = append(paths, h.path(run))
	}
	for _, path := range paths {
		if err := os.Rename(path, filepath.Join(trash, filepath.Base(path))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, os.RemoveAll(trash))
		}
	}
	err = errors.Join(regular.SyncDir(h.runs), os.RemoveAll(trash))
	if _, _, herr := h.index.head(run); herr == nil || verr != nil {
		err = errors.Join(err, h.voidLogs(run))
	}
	h.compactSome() // only saves space
	return err
}

// compactSome compacts the index if it has much to free, or no run is left.
func (h *Home) compactSome() {
	dead, live := h.index.needless()
	if dead >= maxDead {
		h.shared.rest()
	}
	if dead >= maxDead || !live {
		_, _ = h.index.compact(false)
	}
}

// Sweep deletes the leftovers of interrupted removals and outdated lines of the index, and
// returns their size. With dryRun it deletes nothing.
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
	n, err := h.index.compact(dryRun)
	if err != nil {
		all = append(all, fmt.Errorf("sweep runs: %w", err))
	}
	return freed + n, errors.Join(all...)
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
