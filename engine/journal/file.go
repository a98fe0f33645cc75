package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/pexctl/pex/engine/failpoint"
	"github.com/pexctl/pex/engine/regular"
)

// disk is the file a File writes to.
type disk interface {
	Write([]byte) (int, error)
	Sync() error
	Truncate(int64) error
	Close() error
}

// synced is a file whose syncs tests can observe.
type synced struct{ *os.File }

func (s synced) Sync() error { return regular.Sync(s.File) }

// File is the open, locked journal of one run.
type File struct {
	home         *Home
	run          string
	path         string
	unlock       func()
	file         *os.File // for reading; locked
	records      []Record // read on open, for the first Load
	recordsFresh bool     // records are those of the file
	tail         Chain
	seq          uint64 // of the last record
	wrote        bool   // this session appended something
	extent       extent // extent on open, from the head
	dropped      int
	ended        bool   // the newline of the last line was missing and is written
	summary      []byte // for the head

	appender // to the same file
	logged   // instead of commits of its own
}

var _ Journal = (*File)(nil)

// lockTries is how often a locked file is tried again if its holder is not known. If it is
// known, it is tried only once again, since the holder may only be a short Home.Stat.
const lockTries = 20

// open opens, locks and reads a run's journal. A journal that existed before is not
// created again. taken receives the number of records and may reject them.
func (h *Home) open(run string, create bool, taken func(recs int) error) (*File, error) {
	f := &File{home: h, run: run, path: h.path(run)}
	f.syncSlots, f.owner, f.saveExtent, f.committed = h.syncSlots, f, f.mark, h.committed
	for range lockTries {
		err := f.openLocked(create)
		if errors.Is(err, errMoved) {
			continue // removed, repaired, or moved here from its folder
		}
		if err == nil {
			err = f.read(taken)
		}
		if err == nil {
			err = f.syncInherited()
		}
		if err != nil {
			f.abandon()
			return nil, err
		}
		return f, nil
	}
	return nil, &InUseError{Run: run} // it is created and removed repeatedly
}

// openLocked opens and locks the journal. The error is errMoved if it must be tried again.
func (f *File) openLocked(create bool) error {
	file, err := regular.OpenFile(f.path, os.O_RDWR|os.O_APPEND, 0)
	isNew := errors.Is(err, fs.ErrNotExist)
	if isNew {
		if err := f.mayCreate(create); err != nil {
			return err
		}
		file, err = regular.OpenFile(f.path, os.O_CREATE|os.O_EXCL|os.O_RDWR|os.O_APPEND, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return errMoved
		}
	}
	if err != nil {
		return appendError(f.run, err)
	}
	unlock, err := lockJournal(file, f.run)
	if err != nil {
		file.Close()
		return err
	}
	f.file, f.unlock, f.disk = file, unlock, synced{file}
	if f.home.wrap != nil {
		f.disk = f.home.wrap(file)
	}
	if err := f.joinLog(); err != nil {
		return err
	}
	if isNew {
		return nil
	}
	w := f.home.witness(f.run)
	f.extent = w.extent
	if errors.Is(w.err, ErrNewer) {
		return w.err
	}
	return nil
}

// mayCreate returns an error unless a journal that does not exist may be created. It
// moves a run that is still in its folder, and returns errMoved.
func (f *File) mayCreate(create bool) error {
	if f.home.isOld(f.run) {
		if err := f.home.adoptOld(f.run); err != nil {
			return err
		}
		return errMoved
	}
	head, _, err := f.home.index.head(f.run)
	known := head.extent()
	switch {
	case create && known.seq == 0 && !errors.Is(err, ErrNewer):
		return nil
	case exists(f.path):
		return errMoved // created meanwhile
	case errors.Is(err, ErrNewer):
		return err
	}
	return missingJournal(f.run, f.path, known)
}

// lockExisting locks the journal of a run, after moving it from the folder of a run of an
// earlier version. It returns false if the journal is gone, so that there is nothing to
// lock.
func (h *Home) lockExisting(run string) (unlock func(), locked bool, err error) {
	for range lockTries {
		file, err := regular.Open(h.path(run))
		if errors.Is(err, fs.ErrNotExist) {
			if !h.isOld(run) {
				return func() {}, false, nil
			}
			if err := h.adoptOld(run); errors.Is(err, ErrCorrupt) { // the journal is gone
				return func() {}, false, nil
			} else if err != nil {
				return nil, false, err
			}
			continue
		}
		if err != nil {
			return nil, false, err
		}
		unlock, err := lockJournal(file, run)
		if err == nil {
			return func() { file.Close(); unlock() }, true, nil
		}
		file.Close()
		if !errors.Is(err, errMoved) {
			return nil, false, err
		}
	}
	return nil, false, &InUseError{Run: run}
}

// abandon closes a journal that could not be opened.
func (f *File) abandon() {
	if f.disk != nil {
		f.home.shared.leave(f)
		_ = f.disk.Close()
		f.unlock()
	}
}

// read loads the file's records and removes a torn last line.
func (f *File) read(taken func(recs int) error) error {
	b, err := f.bytes()
	if err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	c, err := decodeAndVerify(f.path, b, f.extent)
	if err != nil {
		return err
	}
	if err := taken(len(c.Records)); err != nil {
		return err
	}
	failpoint.At(failpoint.RecoverRead)
	f.records, f.recordsFresh, f.tail, f.dropped = c.Records, true, c.Tail, len(b)-c.Good
	f.seq = uint64(len(c.Records))
	f.good = int64(c.Good)
	if f.dropped > 0 {
		err = f.disk.Truncate(f.good)
		failpoint.At(failpoint.RecoverCut)
	}
	if err == nil && c.Good > 0 && b[c.Good-1] != '\n' { // truncated right before the newline: the record is complete
		_, err = f.disk.Write([]byte{'\n'})
		f.good++
		f.ended = true
	}
	if err != nil {
		return appendError(f.run, err)
	}
	return nil
}

// syncInherited makes durable what a killed session may have written but not synced: what
// this session reports may depend on it. Without a head, the directory entry may not be
// durable either.
func (f *File) syncInherited() error {
	f.isNew = f.extent.seq == 0 || f.home.hasLogs() // which may have the only durable entry
	changed := f.log != nil && (f.dropped > 0 || f.ended)
	if f.home.durability != Sync || f.seq <= f.extent.seq && !changed {
		return nil
	}
	if err := f.home.limitSync(func() error { return f.sync(f.isNew) }); err != nil {
		return appendError(f.run, err)
	}
	f.isNew = false
	return nil
}

func (f *File) bytes() ([]byte, error) {
	info, err := f.file.Stat()
	if err != nil || info.Size() == 0 {
		return nil, err
	}
	b := make([]byte, info.Size())
	n, err := f.file.ReadAt(b, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:n], err
}

// Dropped returns the length of the torn last line removed on read.
func (f *File) Dropped() int { return f.dropped }

// HasRecords reports whether the journal has a record on disk, so that there is a run to
// resume.
func (f *File) HasRecords() bool {
	f.settle()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.good > 0
}

// HasAppended reports whether this session has appended a record.
func (f *File) HasAppended() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.wrote
}

// Load returns the records of earlier sessions.
func (f *File) Load() ([]Record, error) {
	f.settle()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	if !f.recordsFresh {
		if err := f.read(func(int) error { return nil }); err != nil {
			return nil, err
		}
	}
	recs := f.records
	f.records, f.recordsFresh = nil, false
	return recs, nil
}

// currentExtent returns the extent of what is written, durable or not. It is zero if a write
// has failed: its records count as appended, but are not in the file. The next Open verifies it.
func (f *File) currentExtent() extent {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return extent{}
	}
	return extent{f.seq, f.good, f.tail}
}

// Close waits for the last commit, writes the run's head and releases the lock. It removes
// a journal without a record.
func (f *File) Close() error {
	f.settle()
	failpoint.At(failpoint.CloseBefore)
	err := errors.Join(f.syncOnExit(), f.stopSyncing())
	f.home.shared.leave(f)
	if err == nil {
		err = f.saveHead()
	}
	if f.good == 0 && f.err == nil && f.extent.seq == 0 {
		_ = os.Remove(f.path) // best effort: a journal without a record counts as none
	}
	if cerr := f.disk.Close(); err == nil {
		err = cerr
	}
	f.unlock()
	failpoint.At(failpoint.CloseAfter)
	return err
}

// syncNames makes the directory entries of a new run durable.
func (f *File) syncNames() error { return f.home.names.save() }

// wrapError adds the run to an error that ends the journal.
func (f *File) wrapError(err error) error { return appendError(f.run, err) }

// hasRecord reports whether a file has more than the torn start of its first line: a
// complete record, or a damaged one.
func hasRecord(path string) bool {
	f, err := regular.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadBytes('\n')
	if err == nil {
		return true
	}
	return !isLinePrefix(line) || !torn(line, Chain{}) // only the newline may be missing
}
