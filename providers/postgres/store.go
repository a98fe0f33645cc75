package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/pexctl/pex/engine/memory"
)

// Options say which conversations a Store has.
type Options struct {
	Address  string // of the database: a URL or key=value pairs, as libpq reads them
	Variable string // the environment variable that has Address, for messages
	Tenant   string // owner of the conversations; "" is a tenant too
}

// Store stores conversations in a database. It is safe for concurrent use, also by several
// processes.
type Store struct {
	o Options

	mu     sync.Mutex
	pool   *pgxpool.Pool // nil = not connected yet
	closed bool
}

var (
	_ memory.Archive      = (*Store)(nil)
	_ memory.SessionStore = (*Store)(nil)
)

// errClosed is returned by operations after Close.
var errClosed = errors.New("the memory store is closed")

// idleTime is how long an unused connection stays open.
const idleTime = time.Minute

// Open returns a Store and opens nothing: the first operation connects, and reports what is wrong.
func Open(o Options) *Store { return &Store{o: o} }

// Close closes the connections; later operations fail. It may be called more than once.
func (s *Store) Close() error {
	s.mu.Lock()
	pool := s.pool
	s.pool, s.closed = nil, true
	s.mu.Unlock()
	if pool != nil {
		pool.Close()
	}
	return nil
}

// connected returns the pool of connections.
func (s *Store) connected() (*pgxpool.Pool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errClosed
	case s.pool != nil:
		return s.pool, nil
	case s.o.Address == "":
		return nil, &AddressError{s.variable(), "is not set"}
	}
	c, err := pgxpool.ParseConfig(s.o.Address)
	if err != nil {
		return nil, &AddressError{s.variable(), "is not valid"}
	}
	c.MinConns, c.MinIdleConns, c.MaxConnIdleTime = 0, 0, idleTime
	c.AfterConnect = prepare
	if c.ConnConfig.RuntimeParams["application_name"] == "" {
		c.ConnConfig.RuntimeParams["application_name"] = "pexctl"
	}
	s.pool, err = pgxpool.NewWithConfig(context.Background(), c) // it connects later
	return s.pool, err
}

func (s *Store) variable() string { return cmp.Or(s.o.Variable, "the address of the database") }

// do runs an operation. doing describes it for messages.
func (s *Store) do(ctx context.Context, doing string, operation func(*pgxpool.Pool) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	pool, err := s.connected()
	if err == nil {
		err = explain(operation(pool))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// change runs a transaction.
func (s *Store) change(ctx context.Context, doing string, transaction func(pgx.Tx) error) error {
	return s.do(ctx, doing, func(pool *pgxpool.Pool) error { return pgx.BeginFunc(ctx, pool, transaction) })
}
