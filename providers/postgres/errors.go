package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pexctl/pex/engine/memory"
	"github.com/pexctl/pex/engine/stop"
)

// FormatError reports that the tables are not those of this version of pexctl.
type FormatError struct {
	Format int // 0 = the tables have none
	tables *tables
}

// Error names both formats.
func (e *FormatError) Error() string {
	t := e.tables
	if e.Format == 0 {
		last := len(t.names) - 1
		return fmt.Sprintf("the table %s is empty; restore a backup of the database, or drop the tables %s and %s to start without %s",
			t.names[0], strings.Join(t.names[:last], ", "), t.names[last], t.content)
	}
	return fmt.Sprintf("the %s in the database have format %d, this version of pexctl supports format %d; use the pexctl that wrote them", t.content, e.Format, t.format)
}

// StopCode returns the stop code of a run that gets this error.
func (e *FormatError) StopCode() stop.Code { return stop.StoreCorrupt }

// AddressError reports that the address of the database cannot be used. It does not contain the
// address, which may have a password.
type AddressError struct {
	Variable string // that has the address
	Reason   string
	Of       string // what uses the database
}

// Error names the variable.
func (e *AddressError) Error() string {
	return fmt.Sprintf("%s: %s %s; it must be the address of a database, such as postgres://user:password@host:5432/name", e.Of, e.Variable, e.Reason)
}

// StopCode returns the stop code of a run that gets this error.
func (e *AddressError) StopCode() stop.Code { return stop.StoreUnavailable }

// fullError reports that the database has no space left.
type fullError struct{ error }

// Unwrap returns the error of the database.
func (e *fullError) Unwrap() error { return e.error }

// StopCode returns the stop code of a run that gets this error.
func (e *fullError) StopCode() stop.Code { return stop.StoreFull }

// connectError is a pgconn.ConnectError on one line, with the first of the attempts, of which
// there may be one with TLS and one without, for each address of the host.
type connectError struct{ *pgconn.ConnectError }

// Error returns the attempt and why it failed.
func (e *connectError) Error() string {
	first, attempts, _ := strings.Cut(e.ConnectError.Error(), "\n")
	attempt, _, _ := strings.Cut(strings.TrimSpace(attempts), "\n")
	return strings.TrimSpace(first + " " + attempt)
}

// explain returns an error of the database as a Store returns it; see
// https://www.postgresql.org/docs/current/errcodes-appendix.html.
func explain(err error) error {
	if e, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return &connectError{e}
	}
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return err
	}
	switch pg.Code {
	case "53100": // disk_full
		return &fullError{err}
	case "54000": // program_limit_exceeded: a value is too large
		return &memory.RefusedError{Err: err}
	}
	return err
}
