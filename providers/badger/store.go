package badger

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"time"

	"github.com/pexctl/pex/engine/memory"
)

// Options configure a Store; the zero value suits most uses.
type Options struct {
	Tenant    string // owner of the conversations; "" is a tenant too
	FreeSpace int64  // minimum free disk space in bytes; 0 = 96 MB
	// LockWait is the maximum wait for other processes; 0 = until the operation's context
	// ends.
	LockWait time.Duration
	// Idle is how long the store stays open after an operation unless another process
	// waits; 0 = not at all. If set, the Store must be closed.
	Idle time.Duration
	// Inbox is the maximum size of the inbox in bytes: up to it, Append writes to the
	// inbox instead of opening the store. 0 = Append opens the store.
	Inbox int64
}

func (o Options) freeSpace() int64 {
	if o.FreeSpace > 0 {
		return o.FreeSpace
	}
	return 96 << 20
}

// Store stores conversations in a directory. Safe for concurrent use, also by several
// processes and by several Stores of one directory.
type Store struct {
	dir   string
	o     Options
	merge bool // merge the tables on every close

	appending chan struct{} // holds a value during an append to the inbox

	mu       sync.Mutex
	lease    *lease // nil = closed
	report   func(Wait)
	closed   bool  // Close was called
	closeErr error // error from closing an idle store
}

var (
	_ memory.Store        = (*Store)(nil)
	_ memory.SessionStore = (*Store)(nil)
)

// errClosed is returned by operations after Close.
var errClosed = errors.New("the memory store is closed")

// Open returns a Store without opening anything. The first write creates the directory. Each operation opens it and
// reports what is wrong with it.
func Open(dir string, o Options) *Store {
	return &Store{dir: dir, o: o, appending: make(chan struct{}, 1)}
}

// ReportWaits sets a function called while another process holds the store: after some
// seconds, then periodically. It must not use the store.
func (s *Store) ReportWaits(report func(Wait)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report = report
}

// Close waits for operations in progress and releases the directory; later operations
// fail. Without Options.Idle there is nothing to release. It may be called more than
// once.
func (s *Store) Close() error {
	s.appending <- struct{}{}
	defer func() { <-s.appending }()
	s.mu.Lock()
	s.closed = true
	db := s.lease
	idle := db != nil && db.idle()
	if idle {
		db.closing = true
	}
	s.mu.Unlock()
	var err error
	if idle {
		err = s.closeLease(db, false)
	} else if db != nil {
		<-db.done
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err = errors.Join(err, s.closeErr)
	s.closeErr = nil
	return err
}

// with runs an operation on the open store, which contains what was in the inbox.
func (s *Store) with(ctx context.Context, do func(*lease) error) error {
	return s.lend(ctx, func(db *lease) error {
		if err := s.importInbox(ctx, db); err != nil {
			return err
		}
		return do(db)
	})
}

// lend runs an operation on the open store.
func (s *Store) lend(ctx context.Context, do func(*lease) error) (err error) {
	db, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.release(db)) }()
	return do(db)
}

// withExisting is with, but does nothing if there is no store: reading must not create one.
func (s *Store) withExisting(ctx context.Context, do func(*lease) error) error {
	if err := ctx.Err(); err != nil || s.isMissing() {
		return err
	}
	return s.with(ctx, do)
}

// isMissing reports whether the directory has no store.
func (s *Store) isMissing() bool {
	files, err := list(s.dir)
	return errors.Is(err, fs.ErrNotExist) || err == nil && files.isEmpty()
}

// at returns the address of a conversation of the store's tenant.
func (s *Store) at(memoryID string) address { return address{s.o.Tenant, memoryID} }

func (s *Store) damaged(what string, err error) error {
	return &CorruptError{Dir: s.dir, What: what, Err: err}
}
