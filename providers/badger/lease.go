package badger

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
)

const (
	// maxHold is how long a busy store may stay open while other processes wait.
	maxHold = 500 * time.Millisecond
	// idlePoll is how often an idle store checks for waiting processes.
	idlePoll = 20 * time.Millisecond
)

// lease is one period in which the store is open. It starts with an operation and ends when no operation uses the store
// and either Options.Idle has passed or another process waits.
type lease struct {
	*badger.DB
	writing sync.Mutex // one writer at a time, so that the data it read stays valid

	ready, done chan struct{} // ready is closed when the store is open, done when it is closed
	users       int           // this and the following fields are guarded by Store.mu
	openedAt    time.Time     // zero = not open yet
	idleSince   time.Time     // since when there are no users
	idleTimer   *time.Timer   // runs while idle
	closing     bool

	lock     *os.File
	queue    queue
	sentinel sentinel
	witness  *witness
}

// acquire joins the current lease, or starts one.
func (s *Store) acquire(ctx context.Context) (*lease, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.mu.Lock()
		if s.closed {
			s.mu.Unlock()
			return nil, errClosed
		}
		db := s.lease
		if db == nil {
			db = &lease{queue: queueOf(s.dir), ready: make(chan struct{}), done: make(chan struct{}), users: 1}
			s.lease = db
			s.mu.Unlock()
			return db, s.openLease(ctx, db)
		}
		joined := db.join()
		s.mu.Unlock()
		if joined {
			select {
			case <-db.ready:
				return db, nil
			case <-db.done: // it failed to open
				continue
			case <-ctx.Done():
				return nil, errors.Join(ctx.Err(), s.release(db))
			}
		}
		select {
		case <-db.done:
		case <-ctx.Done():
		}
	}
}

// join adds a user, unless the lease is ending, or has exceeded maxHold while others
// wait.
func (db *lease) join() bool {
	if db.closing || db.open() && time.Since(db.openedAt) > maxHold && db.queue.hasWaiters() {
		return false
	}
	db.users++
	return true
}

func (db *lease) open() bool { return !db.openedAt.IsZero() }

// idle reports whether the store is open and unused.
func (db *lease) idle() bool { return db.open() && db.users == 0 && !db.closing }

// openLease opens the store for a new lease. If that fails, operations that joined the lease retry on their own.
func (s *Store) openLease(ctx context.Context, db *lease) error {
	err := s.open(ctx, db)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.lease = nil
		close(db.done)
		return err
	}
	db.openedAt = time.Now()
	close(db.ready)
	return nil
}

// release removes a user. The last one closes the store, or leaves it open for a while
// unless another process waits.
func (s *Store) release(db *lease) error {
	s.mu.Lock()
	db.users--
	if !db.idle() || s.lease != db {
		s.mu.Unlock()
		return nil
	}
	if s.o.Idle > 0 && !s.closed && !db.queue.hasWaiters() {
		db.idleSince = time.Now()
		s.scheduleCheck(db)
		s.mu.Unlock()
		return nil
	}
	db.closing = true
	s.mu.Unlock()
	return s.closeLease(db, false)
}

// scheduleCheck schedules the next checkIdle.
func (s *Store) scheduleCheck(db *lease) {
	if db.idleTimer == nil {
		db.idleTimer = time.AfterFunc(idlePoll, func() { s.checkIdle(db) })
		return
	}
	db.idleTimer.Reset(idlePoll)
}

// checkIdle closes a store that was idle long enough or that another process waits for.
// Close returns its error.
func (s *Store) checkIdle(db *lease) {
	s.mu.Lock()
	if !db.idle() {
		s.mu.Unlock()
		return
	}
	if time.Since(db.idleSince) < s.o.Idle && !db.queue.hasWaiters() {
		s.scheduleCheck(db)
		s.mu.Unlock()
		return
	}
	db.closing = true
	s.mu.Unlock()
	_ = s.closeLease(db, true) // the error is in Store.closeErr
}

// closeLease closes the store. The caller must have set ending. With deferError the error is also stored for Close.
func (s *Store) closeLease(db *lease, deferError bool) error {
	if db.idleTimer != nil {
		db.idleTimer.Stop()
	}
	err := s.close(db)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lease = nil
	if deferError {
		s.closeErr = errors.Join(s.closeErr, err)
	}
	close(db.done)
	return err
}

// pause waits for a random duration between d/2 and d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d/2 + rand.N(d/2+1))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
