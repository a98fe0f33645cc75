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

// turn is how long a busy store may stay open before others get theirs.
const turn = time.Second

// session is the store while it is open: from the first operation that comes
// until none is left.
type session struct {
	*badger.DB
	writing sync.Mutex // one writer at a time: counters never conflict

	ready, gone chan struct{} // closed when open, when closed again
	users       int           // under Store.mu, as what follows
	since       time.Time     // when it opened
	ending      bool

	lock     *os.File
	sentinel sentinel
}

// with runs an operation on the open store.
func (s *Store) with(ctx context.Context, do func(*session) error) error {
	db, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	err = do(db)
	return errors.Join(err, s.release(db))
}

// acquire joins the session that is open, or opens one.
func (s *Store) acquire(ctx context.Context) (*session, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.mu.Lock()
		db := s.session
		if db == nil {
			db = &session{ready: make(chan struct{}), gone: make(chan struct{}), users: 1}
			s.session = db
			yield := s.yield
			s.yield = false
			s.mu.Unlock()
			return db, s.begin(ctx, db, yield)
		}
		joined := db.join()
		s.yield = s.yield || !joined && !db.ending
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

// join counts one more user in, unless the session is over or had its turn.
func (db *session) join() bool {
	if db.ending || !db.since.IsZero() && time.Since(db.since) > turn {
		return false
	}
	db.users++
	return true
}

// begin opens the store for a new session; when it cannot, the session is gone
// and those who joined it try for themselves.
func (s *Store) begin(ctx context.Context, db *session, yield bool) error {
	if yield {
		pause(ctx, 30*time.Millisecond)
	}
	err := s.open(ctx, db)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.session = nil
		close(db.gone)
		return err
	}
	db.since = time.Now()
	close(db.ready)
	return nil
}

// release counts a user out; the last one closes the store.
func (s *Store) release(db *session) error {
	s.mu.Lock()
	db.users--
	last := db.users == 0 && !db.since.IsZero() && s.session == db
	db.ending = db.ending || last
	s.mu.Unlock()
	if !last {
		return nil
	}
	err := s.close(db)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session = nil
	close(db.gone)
	return err
}

// write runs a transaction, again if another one came between.
func (db *session) write(ctx context.Context, dir string, do func(*badger.Txn) error) error {
	db.writing.Lock()
	defer db.writing.Unlock()
	if err := db.sentinel.write(dir); err != nil {
		return err
	}
	for {
		err := db.Update(do)
		if !errors.Is(err, badger.ErrConflict) {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
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
