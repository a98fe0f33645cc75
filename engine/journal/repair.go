package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pexctl/pex/engine/regular"
)

// Repaired describes what a repair kept and dropped.
type Repaired struct {
	Run     string
	Kept    int    // records before the damage
	Dropped int64  // bytes from the damage on
	Lost    uint64 // sequence number of the last record known to be lost; 0 = unknown
	Saved   string // copy of the damaged file; "" = the journal was not changed
	Damage  error  // what was wrong
}

// Repair repairs a damaged run: it keeps the records before the damage, drops the rest,
// and saves the damaged file in its folder, as journal.jsonl.damaged-N. No other function repairs,
// because a dropped record may be a write that happened: the caller must judge what a
// resumed run repeats. Repair refuses intact runs and runs of which no record would be
// left.
func (h *Home) Repair(run string) (Repaired, error) {
	if err := checkID(run); err != nil {
		return Repaired{}, err
	}
	unlock, _, err := h.lockExisting(run)
	if err != nil {
		return Repaired{}, err
	}
	defer unlock()
	e := h.examineOnce(run)
	if err := e.repairable(run); err != nil {
		return Repaired{}, err
	}
	r := Repaired{Run: run, Kept: len(e.contents.Records), Damage: e.journalErr}
	if e.journalErr == nil {
		r.Damage = e.err
	}
	if e.extent.seq > uint64(r.Kept) {
		r.Lost = e.extent.seq
	}
	seal := Head{Run: run, Seq: uint64(r.Kept), Chain: e.contents.Tail, Bytes: int64(e.contents.Good)}
	if err := h.writeRepaired(&seal, &e, &r); err != nil {
		return Repaired{}, fmt.Errorf("repair run %s: %w", run, err)
	}
	return r, nil
}

// repairable returns why a run cannot be repaired, or nil.
func (e *evidence) repairable(run string) error {
	kept := len(e.contents.Records)
	switch {
	case e.journalErr == nil && kept == 0, e.missing && e.extent.seq == 0:
		return missing(run, fs.ErrNotExist)
	case e.journalErr == nil && !errors.Is(e.err, ErrCorrupt):
		return fmt.Errorf("run %s: nothing is damaged", run)
	case e.journalErr != nil && !errors.Is(e.journalErr, ErrCorrupt):
		return e.journalErr
	case kept == 0:
		return fmt.Errorf("run %s has no record before the damage: restore a backup, or remove the run: %w", run, e.journalErr)
	}
	return nil
}

// writeRepaired replaces the damaged journal, then writes a matching head. If interrupted
// in between, the run still counts as damaged.
func (h *Home) writeRepaired(seal *Head, e *evidence, r *Repaired) error {
	good := e.raw[:e.contents.Good]
	if e.journalErr != nil && len(e.raw) > len(good) {
		saved, err := h.setAside(r.Run)
		if err != nil {
			return err
		}
		r.Saved, r.Dropped = saved, int64(len(e.raw)-len(good))
		if err := replaceFile(e.journal, good, true); err != nil {
			return err
		}
	}
	if h.hasLogs() {
		if err := h.voidLogs(r.Run); err != nil {
			return err
		}
	}
	return errors.Join(h.writeHead(seal, true), regular.SyncDir(h.runs))
}

// linkFile is os.Link, replaced by tests of file systems without links.
var linkFile = os.Link

// setAside saves the journal of a run in its folder, under the first free name.
func (h *Home) setAside(run string) (string, error) {
	path, dir := h.path(run), h.Folder(run)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", Full(err)
	}
	for n := 1; ; n++ {
		aside := filepath.Join(dir, fmt.Sprint(savedPrefix, n))
		err := linkFile(path, aside)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = copyNew(path, aside) // the file system has no links
		}
		if err == nil {
			err = regular.SyncDir(dir)
		}
		if !errors.Is(err, fs.ErrExist) {
			return aside, Full(err)
		}
	}
}

// copyNew copies a file to a path that must not exist.
func copyNew(from, to string) error {
	r, err := regular.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	if err = errors.Join(err, regular.Sync(w), w.Close()); err != nil {
		_ = os.Remove(to)
	}
	return err
}
