package journal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

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
	lock         *os.File
	file         *os.File // for reading
	records      []Record // read on open, for the first Load
	recordsFresh bool     // records are those of the file
	tail         Chain
	seq          uint64 // of the last record
	wrote        bool   // this session appended something
	extent       extent // extent on open, from the head and the lock file
	dropped      int
	summary      []byte // for the head

	appender // to the same file
}

var _ Journal = (*File)(nil)

// open locks and reads a run's file. accept receives the number of records and may reject
// them.
func (h *Home) open(run string, taken func(recs int) error) (*File, error) {
	dir := h.Folder(run)
	lock, err := acquire(filepath.Join(dir, lockName), run)
	if err != nil {
		return nil, err
	}
	f := &File{home: h, run: run, path: filepath.Join(dir, fileName), lock: lock}
	f.syncSlots, f.owner = h.syncSlots, f
	f.saveExtent = func(m extent) { m.write(lock, run) }
	if err := f.openFile(dir, taken); err != nil {
		release(lock)
		return nil, err
	}
	return f, nil
}

// openFile opens the journal and reads it. A journal that existed before is not created
// again.
func (f *File) openFile(dir string, taken func(recs int) error) error {
	head, _, err := readHead(dir, f.run)
	if errors.Is(err, ErrNewer) {
		return err
	}
	if f.extent = maxExtent(head.extent(), readExtent(dir, f.run)); f.extent.seq > 0 {
		if _, err := os.Stat(f.path); errors.Is(err, fs.ErrNotExist) {
			return missingJournal(f.run, f.path, f.extent)
		}
	}
	file, err := regular.OpenFile(f.path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return appendError(f.run, err)
	}
	f.file, f.disk = file, synced{file}
	if f.home.wrap != nil {
		f.disk = f.home.wrap(file)
	}
	if err := f.read(taken); err != nil {
		_ = f.disk.Close()
		return err
	}
	return nil
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
	f.good, f.isNew = int64(c.Good), c.Good == 0
	if f.dropped > 0 {
		err = f.disk.Truncate(f.good)
		failpoint.At(failpoint.RecoverCut)
	}
	if err == nil && c.Good > 0 && b[c.Good-1] != '\n' { // truncated right before the newline: the record is complete
		_, err = f.disk.Write([]byte{'\n'})
		f.good++
	}
	if err != nil {
		return appendError(f.run, err)
	}
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

// currentExtent returns the extent of what is written, durable or not.
func (f *File) currentExtent() extent {
	f.mu.Lock()
	defer f.mu.Unlock()
	return extent{f.seq, f.good, f.tail}
}

// Close waits for the last commit, writes the run's head and releases the lock.
func (f *File) Close() error {
	f.settle()
	failpoint.At(failpoint.CloseBefore)
	err := errors.Join(f.syncOnExit(), f.stopSyncing())
	if cerr := f.disk.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = f.saveHead()
	}
	release(f.lock)
	failpoint.At(failpoint.CloseAfter)
	return err
}

// syncNames makes the directory entries of a new run durable.
func (f *File) syncNames() error { return f.home.syncNames(f.path) }

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
