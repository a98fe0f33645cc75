package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// database connects to the tables of a store when they are first used.
type database struct {
	address  string
	variable string // the environment variable that has address, for messages
	tables   *tables

	mu     sync.Mutex
	pool   *pgxpool.Pool // nil = not connected yet
	closed bool
}

// errClosed is returned by operations after Close.
var errClosed = errors.New("the store is closed")

// idleTime is how long an unused connection stays open.
const idleTime = time.Minute

// Close closes the connections; later operations fail. It may be called more than once.
func (d *database) Close() error {
	d.mu.Lock()
	pool := d.pool
	d.pool, d.closed = nil, true
	d.mu.Unlock()
	if pool != nil {
		pool.Close()
	}
	return nil
}

// config returns the settings of the connections, or an *AddressError.
func (d *database) config() (*pgxpool.Config, error) {
	variable := cmp.Or(d.variable, "the address of the database")
	if d.address == "" {
		return nil, &AddressError{variable, "is not set", d.tables.of}
	}
	c, err := pgxpool.ParseConfig(d.address)
	if err != nil {
		return nil, &AddressError{variable, "is not valid", d.tables.of}
	}
	c.MinConns, c.MinIdleConns, c.MaxConnIdleTime = 0, 0, idleTime
	c.AfterConnect = d.tables.prepare
	if c.ConnConfig.RuntimeParams["application_name"] == "" {
		c.ConnConfig.RuntimeParams["application_name"] = "pexctl"
	}
	return c, nil
}

// connected returns the pool of connections.
func (d *database) connected() (*pgxpool.Pool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return nil, errClosed
	case d.pool != nil:
		return d.pool, nil
	}
	c, err := d.config()
	if err != nil {
		return nil, err
	}
	d.pool, err = pgxpool.NewWithConfig(context.Background(), c) // it connects later
	return d.pool, err
}

// do runs an operation. doing describes it for messages.
func (d *database) do(ctx context.Context, doing string, operation func(*pgxpool.Pool) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	pool, err := d.connected()
	if err == nil {
		err = explain(operation(pool))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}
