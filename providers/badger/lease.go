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
	// turn is how long a busy store may stay open while others wait for it.
	turn = 500 * time.Millisecond
	// glance is how often an idle store looks whether somebody waits.
	glance = 20 * time.Millisecond
)

// lease is the store while it is open: from the first operation that comes
// until nobody uses it, and its idle time is over or another process waits.
type lease struct {
	*badger.DB
	writing sync.Mutex // one writer at a time: what it has read stays true

	ready, gone chan struct{} // closed when open, when closed again
	users       int           // under Store.mu, as what follows
	since       time.Time     // when it opened
	rest        time.Time     // since when nobody uses it
	glance      *time.Timer   // while nobody does
	ending      bool

	lock     *os.File
	queue    queue
	sentinel sentinel
	witness  *witness
}

// acquire joins the lease that is on, or begins one.
func (s *Store) acquire(ctx context.Context) (*lease, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.mu.Lock()
		if s.ended {
			s.mu.Unlock()
			return nil, errEnded
		}
		db := s.lease
		if db == nil {
			db = &lease{queue: queueOf(s.dir), ready: make(chan struct{}), gone: make(chan struct{}), users: 1}
			s.lease = db
			s.mu.Unlock()
			return db, s.begin(ctx, db)
		}
		joined := db.join()
		s.mu.Unlock()
		if joined {
			select {
			case <-db.ready:
				return db, nil
			case <-db.gone: // it did not open
				continue
			case <-ctx.Done():
				return nil, errors.Join(ctx.Err(), s.release(db))
			}
		}
		select {
		case <-db.gone:
		case <-ctx.Done():
		}
	}
}

// join counts one more user in, unless the lease is over, or had its turn and
// others wait.
func (db *lease) join() bool {
	if db.ending || db.open() && time.Since(db.since) > turn && db.queue.awaited() {
		return false
	}
	db.users++
	return true
}

func (db *lease) open() bool { return !db.since.IsZero() }

// idle says that the lease is on and nobody uses it.
func (db *lease) idle() bool { return db.open() && db.users == 0 && !db.ending }

// begin opens the store for a new lease; when it cannot, the lease is gone and
// those who joined it try for themselves.
func (s *Store) begin(ctx context.Context, db *lease) error {
	err := s.open(ctx, db)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.lease = nil
		close(db.gone)
		return err
	}
	db.since = time.Now()
	close(db.ready)
	return nil
}

// release counts a user out. The last one closes the store, or leaves it open
// for a while where nobody else waits.
func (s *Store) release(db *lease) error {
	s.mu.Lock()
	db.users--
	if !db.idle() || s.lease != db {
		s.mu.Unlock()
		return nil
	}
	if s.o.Idle > 0 && !s.ended && !db.queue.awaited() {
		db.rest = time.Now()
		s.lookLater(db)
		s.mu.Unlock()
		return nil
	}
	db.ending = true
	s.mu.Unlock()
	return s.shut(db, false)
}

// lookLater has an idle store looked at in a moment.
func (s *Store) lookLater(db *lease) {
	if db.glance == nil {
		db.glance = time.AfterFunc(glance, func() { s.look(db) })
		return
	}
	db.glance.Reset(glance)
}

// look closes a store that rested long enough, or that another process waits
// for. What it meets is told by Close.
func (s *Store) look(db *lease) {
	s.mu.Lock()
	if !db.idle() {
		s.mu.Unlock()
		return
	}
	if time.Since(db.rest) < s.o.Idle && !db.queue.awaited() {
		s.lookLater(db)
		s.mu.Unlock()
		return
	}
	db.ending = true
	s.mu.Unlock()
	_ = s.shut(db, true) // it is kept
}

// shut closes the store and ends the lease; it is for the one who set ending.
// What it meets is kept for Close where nobody is there to be told.
func (s *Store) shut(db *lease, keep bool) error {
	if db.glance != nil {
		db.glance.Stop()
	}
	err := s.close(db)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lease = nil
	if keep {
		s.failed = errors.Join(s.failed, err)
	}
	close(db.gone)
	return err
}

// pause waits for a time that varies by half, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d/2 + rand.N(d/2+1))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
