package postgres

import (
	"context"

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
	*database
	o Options
}

var (
	_ memory.Archive      = (*Store)(nil)
	_ memory.SessionStore = (*Store)(nil)
)

// Open returns a Store and opens nothing: the first operation connects, and reports what is wrong.
func Open(o Options) *Store {
	return &Store{&database{address: o.Address, variable: o.Variable, tables: conversations}, o}
}

// change runs a transaction.
func (s *Store) change(ctx context.Context, doing string, transaction func(pgx.Tx) error) error {
	return s.do(ctx, doing, func(pool *pgxpool.Pool) error { return pgx.BeginFunc(ctx, pool, transaction) })
}
