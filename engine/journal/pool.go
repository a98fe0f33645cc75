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

// Pool is one append-only, locked file that holds the journals of many runs. A line is
// that of a run's own journal with the run id before it, and each run has its own chain.
// All runs share writes and syncs, and texts that several of them send are stored once.
//
// Its durability is that of a Home: Sync or Async.
type Pool struct {
	appender
	o       PoolOptions
	path    string
	lock    *os.File
	file    *os.File // for reading; the appender's disk is the same file
	runs    map[string]*pooledRun
	texts   sharedTexts
	size    int64 // length including what waits to be written
	dropped int
}

// PoolOptions configure a Pool.
type PoolOptions struct {
	Durability Durability // Sync, the default, or Async
	// Done is called on open for each finished run and reports whether its records are no
	// longer needed. Nil = never needed.
	Done func(run string) bool
	// Locked is called after the file is locked and before it is read; its error fails
	// OpenPool. May be nil.
	Locked func() error

	wrap func(disk) disk // for tests with failing disks
}

// OpenPool opens and locks the pool at path, creating it if needed, and scans it once to
// index the records of unfinished runs. It drops a torn last line. The error wraps
// ErrCorrupt and names the line if any other is damaged, and is an *InUseError if the file
// is already open. The caller must close the Pool.
func OpenPool(path string, o PoolOptions) (*Pool, error) {
	if o.Durability != "" && o.Durability != Sync && o.Durability != Async {
		return nil, fmt.Errorf("durability %q: many runs in one file take sync or async", o.Durability)
	}
	lock, err := acquire(path+".lock", filepath.Base(path))
	if held, ok := errors.AsType[*InUseError](err); ok {
		return nil, &InUseError{File: path, PID: held.PID}
	}
	if err != nil {
		return nil, err
	}
	p := &Pool{o: o, path: path, lock: lock, runs: map[string]*pooledRun{}}
	p.syncSlots, p.owner = make(chan struct{}, 1), p
	if o.Locked != nil {
		err = o.Locked()
	}
	if err == nil {
		err = p.open()
	}
	if err != nil {
		release(lock)
		return nil, err
	}
	return p, nil
}

func (p *Pool) open() error {
	file, err := regular.OpenFile(p.path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return p.wrapError(err)
	}
	p.file, p.disk = file, synced{file}
	if p.o.wrap != nil {
		p.disk = p.o.wrap(file)
	}
	s := poolScan{lineReader: newLinewise(file), pool: p}
	if err = s.all(); err != nil {
		err = fmt.Errorf("%s: %w", p.path, err)
	} else {
		err = p.repairTail(&s)
	}
	if err != nil {
		_ = p.disk.Close()
	}
	return err
}

func (p *Pool) repairTail(s *poolScan) (err error) {
	p.isNew = true // its creator may have been killed before the sync of its directory entry
	p.good, p.dropped, err = repairTail(p.disk, s.good, s.next, s.noNewline)
	p.size = p.good
	if err != nil {
		return p.wrapError(err)
	}
	return nil
}

// Dropped returns the length of the torn last line removed on open.
func (p *Pool) Dropped() int { return p.dropped }

// Run returns the journal of a run with the records of its earlier sessions. A finished
// run that was forgotten starts again, empty. One session may use it at a time.
func (p *Pool) Run(run string) (Journal, error) {
	if !pooledID([]byte(run)) {
		return nil, fmt.Errorf("run id %q: use 1 to %d letters, digits, '_', '.', '-' and '~'", run, maxPooledID)
	}
	if strings.HasPrefix(run, reservedRun) {
		return nil, fmt.Errorf("run id %q: ids that begin with %q are reserved", run, reservedRun)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return nil, p.err
	}
	r := p.runs[run]
	if r == nil {
		r = newPooled(p, run)
		p.runs[run] = r
	}
	return r, nil
}

// Forget drops the index of a finished run whose records are no longer needed. The file
// keeps them.
func (p *Pool) Forget(run string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.runs, run)
}

// Read returns all records of a run, also of a forgotten one, like ReadPool.
func (p *Pool) Read(run string) ([]Record, error) {
	p.settle()
	return ReadPool(p.path, run)
}

// Err returns the error that ended the pool, or nil.
func (p *Pool) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Close waits until everything is durable and releases the lock. It returns the first
// error.
func (p *Pool) Close() error {
	err := p.end()
	release(p.lock)
	return err
}

func (p *Pool) syncNames() error { return regular.SyncDir(filepath.Dir(p.path)) }

func (p *Pool) wrapError(err error) error { return cannotAppend("journal "+p.path, err) }

// ReadPool returns the records of one run of the pool at path without locking it, so runs
// may be in progress. The error wraps fs.ErrNotExist if the pool does not have the run.
// With an error that wraps ErrCorrupt it returns the records before the damage.
func ReadPool(path, run string) ([]Record, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := poolReader{lineReader: newLinewise(file), file: file, run: run}
	err = r.all()
	switch {
	case err != nil:
		return r.recs, fmt.Errorf("%s: %w", path, err)
	case len(r.recs) == 0:
		return nil, missing(run, fs.ErrNotExist)
	}
	return r.recs, nil
}

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
