package badger

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/memory"
)

// Options are what a store may be told; the zero value is right for most.
type Options struct {
	Tenant    string // whose conversations; "" is a tenant like others
	FreeSpace int64  // bytes that must be free on the disk; 0 = 96 MB
	// LockWait is how long to wait for other processes; 0 = until the context of
	// the operation ends.
	LockWait time.Duration
	// Idle is how long the store stays open after an operation, for the next
	// one, while nobody else waits for it; 0 = not at all. With it Close is due.
	Idle time.Duration
}

func (o Options) freeSpace() int64 {
	if o.FreeSpace > 0 {
		return o.FreeSpace
	}
	return 96 << 20
}

// Store keeps conversations in a directory. Safe for concurrent use, also by
// several processes and by several Stores on one directory.
type Store struct {
	dir   string
	o     Options
	merge bool // the tables, whenever the store is closed

	mu     sync.Mutex
	lease  *lease // nil = closed
	report func(Wait)
	ended  bool  // Close was called
	failed error // what closing an idle store met
}

var (
	_ memory.Store        = (*Store)(nil)
	_ memory.SessionStore = (*Store)(nil)
)

// errEnded is the answer to operations after Close.
var errEnded = errors.New("the memory store has been closed")

// Open names a store. The directory is made, and opened, by the first
// operation that writes; what is wrong with it shows then.
func Open(dir string, o Options) *Store { return &Store{dir: dir, o: o} }

// ReportWaits has report called while another process has the store: after some
// seconds, and then from time to time. It must not use the store.
func (s *Store) ReportWaits(report func(Wait)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report = report
}

// Close waits for what is under way and lets go of the directory; nothing of
// the store runs on afterwards, and its operations fail. Without Options.Idle
// there is nothing to let go of. Calling it again does no harm.
func (s *Store) Close() error {
	s.mu.Lock()
	s.ended = true
	db := s.lease
	idle := db != nil && db.idle()
	if idle {
		db.ending = true
	}
	s.mu.Unlock()
	var err error
	if idle {
		err = s.shut(db, false)
	} else if db != nil {
		<-db.gone
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err = errors.Join(err, s.failed)
	s.failed = nil
	return err
}

// with runs an operation on the open store.
func (s *Store) with(ctx context.Context, do func(*lease) error) (err error) {
	db, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.release(db)) }()
	return do(db)
}

// reading is with, for what has nothing to do where there is no store: looking
// must not make one.
func (s *Store) reading(ctx context.Context, do func(*lease) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if files, err := list(s.dir); errors.Is(err, fs.ErrNotExist) || err == nil && files.empty() {
		return nil
	}
	return s.with(ctx, do)
}

// at is the address of a conversation of the store's tenant.
func (s *Store) at(memoryID string) address { return address{s.o.Tenant, memoryID} }

func (s *Store) damaged(what string, err error) error {
	return &CorruptError{Dir: s.dir, What: what, Err: err}
}
