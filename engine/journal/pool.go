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

// Pool is one append-only, locked file that holds the journals of many runs: a
// line is that of a run's own journal with the run before it, and each run has
// a chain of its own. Appends of all runs share writes and syncs.
//
// Under Sync a ticket is fulfilled by a sync. Under Async it is fulfilled by
// the write, and what was written is synced within a moment; but an append that
// holds the intent of a write, or a question, is synced before its ticket is
// fulfilled, so that no power loss makes a run forget what it was about to do.
type Pool struct {
	appender
	o       PoolOptions
	path    string
	lock    *os.File
	file    *os.File // to read from; the appender's disk is the same file
	runs    map[string]*pooled
	size    int64 // of what was appended, also what waits for its write
	dropped int
}

// PoolOptions are how a pool is kept.
type PoolOptions struct {
	Durability Durability // Sync, the default, or Async
	// Done is asked, when the pool is opened, of each run that has ended: true
	// says that nobody will want its records again. Nil = true for all.
	Done func(run string) bool
	// Locked is called once the file is locked and before it is read; its error
	// ends the opening. Nil = nothing is to be done.
	Locked func() error

	wrap func(disk) disk // tests put failing disks here
}

// OpenPool opens and locks the pool at path, making it if need be, and goes
// over it once: of runs that have not ended it keeps where their records are.
// A torn last line is dropped; the error wraps ErrCorrupt and names the line
// when any other is damaged, and is a *HeldError when someone has the file open.
// The caller closes the Pool.
func OpenPool(path string, o PoolOptions) (*Pool, error) {
	if o.Durability != "" && o.Durability != Sync && o.Durability != Async {
		return nil, fmt.Errorf("durability %q: many runs in one file take sync or async", o.Durability)
	}
	lock, err := acquire(path+".lock", filepath.Base(path))
	if held, ok := errors.AsType[*HeldError](err); ok {
		return nil, &HeldError{File: path, PID: held.PID}
	}
	if err != nil {
		return nil, err
	}
	p := &Pool{o: o, path: path, lock: lock, runs: map[string]*pooled{}}
	p.lanes, p.owner = make(chan struct{}, 1), p
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
		return p.cannot(err)
	}
	p.file, p.disk = file, synced{file}
	if p.o.wrap != nil {
		p.disk = p.o.wrap(file)
	}
	s := poolScan{linewise: newLinewise(file), pool: p}
	if err = s.all(); err != nil {
		err = fmt.Errorf("%s: %w", p.path, err)
	} else {
		err = p.mend(&s)
	}
	if err != nil {
		_ = p.disk.Close()
	}
	return err
}

func (p *Pool) mend(s *poolScan) (err error) {
	p.good, p.made, p.dropped, err = mend(p.disk, s.good, s.next, s.unended)
	p.size = p.good
	if err != nil {
		return p.cannot(err)
	}
	return nil
}

// Dropped is the length of the torn last line that was cut off when the pool
// was opened.
func (p *Pool) Dropped() int { return p.dropped }

// Run gives the journal of a run: what earlier sessions of it left is there,
// unless it had ended and is forgotten, when it begins anew. One session uses
// it at a time.
func (p *Pool) Run(run string) (Journal, error) {
	if !pooledID([]byte(run)) {
		return nil, fmt.Errorf("run id %q: use 1 to %d letters, digits, '_', '.', '-' and '~'", run, maxPooledID)
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

// Forget says that nobody will want a run's records again: it has ended, and
// what came of it is kept elsewhere. The file keeps them.
func (p *Pool) Forget(run string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.runs, run)
}

// Read gives all records of a run, also of one that is forgotten, as ReadPool
// does.
func (p *Pool) Read(run string) ([]Record, error) {
	p.settle()
	return ReadPool(p.path, run)
}

// Err is what ended the pool, or nil.
func (p *Pool) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Close waits until all is durable and gives the file back. The error is the
// first failure.
func (p *Pool) Close() error {
	err := p.end()
	release(p.lock)
	return err
}

func (p *Pool) syncNames() error { return regular.SyncDir(filepath.Dir(p.path)) }

func (p *Pool) cannot(err error) error { return cannotAppend("journal "+p.path, err) }

// ReadPool gives the records of one run of the pool at path without locking
// it: runs may be under way. The error wraps fs.ErrNotExist when the pool does
// not hold the run; beside one that wraps ErrCorrupt are the records before
// the damage.
func ReadPool(path, run string) ([]Record, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var recs []Record
	tail := Chain{}
	for l := newLinewise(file); ; {
		line, ended, err := l.read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return recs, fmt.Errorf("%s: %w", path, err)
		}
		id, line, ok := cutRun(line)
		if !ok || string(id) != run {
			continue
		}
		if n := len(recs); n > 0 && recs[n-1].Kind == End { // it began anew
			recs, tail = nil, Chain{}
		}
		rec, next, err := l.record(line, uint64(len(recs)+1), tail)
		if err != nil && !ended {
			break // it is being written, or is torn
		}
		if err != nil {
			return recs, fmt.Errorf("%s: run %s: %w", path, run, err)
		}
		rec.Body = append([]byte(nil), rec.Body...)
		rec.By = append([]byte(nil), rec.By...)
		recs, tail = append(recs, rec), next
	}
	if len(recs) == 0 {
		return nil, missing(run, fs.ErrNotExist)
	}
	return recs, nil
}
