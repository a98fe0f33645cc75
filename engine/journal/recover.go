package journal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/journal/commitlog"
	"github.com/pexctl/pex/engine/regular"
)

// hasLogs reports whether a process has, or had, a commit log of the home.
func (h *Home) hasLogs() bool { return h.index.hasLogs() }

func (x *index) hasLogs() bool {
	return commitlog.Live(filepath.Join(filepath.Dir(x.path), logName))
}

// voidLogs has commit logs ignore what they have of a run, which was removed or is about to
// be replaced.
func (h *Home) voidLogs(run string) error { return h.writeHead(&Head{Run: run}, true) }

// recoverLogs applies the commit logs of processes that did not close them.
func (h *Home) recoverLogs() error {
	return commitlog.Recover(filepath.Join(h.runs, logName), h.applyLog)
}

// applyLog writes what logs have of the journals to their files, and makes it durable.
func (h *Home) applyLog(frames []commitlog.Frame) error {
	byRun := map[string][]commitlog.Frame{}
	for _, f := range frames {
		if checkID(f.Name) == nil {
			byRun[f.Name] = append(byRun[f.Name], f)
		}
	}
	resets, err := h.index.resets()
	if err != nil {
		return err
	}
	var changed []string
	ends := map[string]int64{}
	for _, run := range slices.Sorted(maps.Keys(byRun)) {
		valid := slices.DeleteFunc(byRun[run], func(f commitlog.Frame) bool { return resets[run] > f.Tag })
		if len(valid) == 0 {
			continue // removed since
		}
		slices.SortStableFunc(valid, func(a, b commitlog.Frame) int { return cmp.Compare(a.At, b.At) }) // of several logs
		if ends[run], err = h.applyFrames(run, valid); err != nil {
			return fmt.Errorf("run %s: %w", run, Full(err))
		}
		changed = append(changed, h.path(run))
	}
	undurable, err := h.trimHoles(ends)
	if err != nil {
		return err
	}
	return regular.SyncAll(h.runs, append(changed, undurable...))
}

// applyFrames writes frames to the journal of a run. It returns where the last one ends.
// If another process executes the run, the power was not lost, and nothing is missing.
func (h *Home) applyFrames(run string, frames []commitlog.Frame) (end int64, err error) {
	file, unlock, err := h.lockForWriting(run)
	if _, inUse := errors.AsType[*InUseError](err); inUse {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()); unlock() }()
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	size := info.Size()
	for _, f := range frames {
		if f.At > size {
			return end, nil // the journal is damaged: it was durable up to here
		}
		if _, err := file.WriteAt(f.Bytes, f.At); err != nil {
			return end, err
		}
		end = f.At + int64(len(f.Bytes))
		size = max(size, end)
	}
	return end, nil
}

// lockForWriting opens and locks the journal of a run, and creates it if necessary.
func (h *Home) lockForWriting(run string) (file *os.File, unlock func(), err error) {
	for range lockTries {
		file, err := regular.OpenFile(h.path(run), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, nil, err
		}
		if unlock, err = lockJournal(file, run); err == nil {
			return file, unlock, nil
		}
		file.Close()
		if !errors.Is(err, errMoved) {
			return nil, nil, err
		}
	}
	return nil, nil, &InUseError{Run: run}
}

// trimHoles truncates each journal where a power loss left a hole, which reads as zeros,
// in what was not durable yet: after the end of its last frame, and of its head. It
// returns the paths of all journals that are longer than that.
func (h *Home) trimHoles(ends map[string]int64) (undurable []string, err error) {
	entries, err := os.ReadDir(h.runs)
	if err != nil {
		return nil, err
	}
	var runs []string
	for _, e := range entries {
		if run, isJournal := strings.CutSuffix(e.Name(), suffix); isJournal && checkID(run) == nil {
			runs = append(runs, run)
		}
	}
	heads := h.index.heads(runs)
	for _, run := range runs {
		durable := max(ends[run], heads[run].extent().bytes)
		info, err := os.Lstat(h.path(run))
		if err != nil || !info.Mode().IsRegular() || info.Size() <= durable {
			continue
		}
		if err := h.trimHole(run, durable, info.Size()); err != nil {
			return nil, fmt.Errorf("run %s: %w", run, err)
		}
		undurable = append(undurable, h.path(run))
	}
	return undurable, nil
}

func (h *Home) trimHole(run string, durable, size int64) (err error) {
	file, unlock, err := h.lockForWriting(run)
	if _, inUse := errors.AsType[*InUseError](err); inUse {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()); unlock() }()
	tail := make([]byte, size-durable)
	n, _ := file.ReadAt(tail, durable)
	if hole := bytes.IndexByte(tail[:n], 0); hole >= 0 {
		return file.Truncate(durable + int64(hole))
	}
	return nil
}
